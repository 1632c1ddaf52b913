#include <connector/author.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "language": "c",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        @MANIFESTED@
    }
});

/* One gate. It is never changed after `create`, so that any thread may read it. */
typedef struct adapter {
    connector_gate gate;
    char endpoint[512];
} adapter;

/* Sends a request with the key, which the host puts in as it sends the request. `type` is that of the body; null for none. */
static int32_t send_request(const adapter *self, const connector_call *call_borrowed, const char *method,
                            connector_text *url, const char *type, const void *body, uint64_t length,
                            connector_exchange exchange, connector_error *error) {
    const connector_http_header headers[] = {
        {"Authorization", 13, "Bearer {{secret:apiKey}}", 24},
        {"Content-Type", 12, type, type == NULL ? 0 : strlen(type)},
    };
    connector_http_request request;
    memset(&request, 0, sizeof request);
    request.flags = CONNECTOR_HTTP_VERBATIM_BODY;
    request.method = method;
    request.method_length = strlen(method);
    request.headers = headers;
    request.header_count = type == NULL ? 1 : 2;
    request.body = body;
    request.body_length = length;
    return connector_send(&self->gate, call_borrowed, &request, url, exchange, error);
}

/* The answer to `open`. A status alone proves nothing: a captive portal says 200, too. */
static void account_answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_json answer = connector_json_parse(response->body, response->body_length);
    char account[64];
    if (connector_json_string(connector_json_member(answer, "account"), account, sizeof account) != CONNECTOR_OK) {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no account");
        return;
    }
    connector_complete_evidence(exchange->gate->host, exchange->operation, "authenticated", account);
}

/* Requests something that needs the key, changes nothing and costs nothing. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    const adapter *self = instance;
    const connector_exchange exchange = {NULL, 0, account_answered, ""};
    connector_text url = {NULL, 0, 0, 0};
    connector_text_base(&url, self->endpoint);
    connector_text_put(&url, "/account");
    return send_request(self, call_borrowed, "GET", &url, NULL, NULL, 0, exchange, error);
}

/* The answer to an operation, which is the vendor's as it is: what kind it has stands in the note. A web page is no answer. */
static void answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_host *host = exchange->gate->host;
    const int is_json = connector_json_parse(response->body, response->body_length).text != NULL;
    const uint8_t *result = response->body;
    uint64_t length = response->body_length;
    if (strcmp(exchange->note, "bytes") != 0 && length > 0 && !is_json) {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL, "the answer is not the vendor's: it is not JSON");
        return;
    }
    if (strcmp(exchange->note, "nothing") == 0) {
        result = NULL;
        length = 0;
    } else if (length == 0) {
        /* JSON has an address, even that of nothing. */
        result = (const uint8_t *)"null";
        length = strcmp(exchange->note, "json") == 0 ? 4 : 0;
    }
    host->complete(host->context, exchange->operation, CONNECTOR_OK, result, length, NULL);
}

/* The operations. Their prototypes follow from their signatures: see connector/operation.h. */

@OPERATIONS@

static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    const connector_json config = connector_json_parse(config_borrowed, config_length);
    adapter *self = calloc(1, sizeof *self);
    int32_t status;
    if (self == NULL) return connector_fail(error, CONNECTOR_FAILED, "out of memory");
    status = connector_gate_create(&self->gate, host, "@NAME@", error);
    if (status == CONNECTOR_OK) {
        status = connector_json_string(connector_json_member(config, "endpoint"), self->endpoint, sizeof self->endpoint);
        if (status != CONNECTOR_OK) connector_fail(error, status, "the endpoint is longer than 511 bytes");
    }
    if (status == CONNECTOR_OK) *instance_owned = self;
    else free(self);
    return status;
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *@SNAKE@_plugin(void) {
    static const connector_plugin plugin = {
        sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}
