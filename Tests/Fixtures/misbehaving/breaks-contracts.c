/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * breaks-contracts: contacts a host that it does not declare, reverses a key that the vendor repeats, and answers operations of
 * standard capabilities with what their callers cannot read.
 */
#include <connector/author.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "breaks-contracts",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "contracts_entry",
    "documentation": "Breaks the contracts of capabilities.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "http://127.0.0.1:1/", "documentation": "The vendor's server."},
        "rule": {"type": "string", "documentation": "hosts-declared, to ask a host that is not declared."},
        "key": {"type": "string", "required": true, "secret": true, "documentation": "The key."}
    },
    "capabilities": {
        "settings/1": {"list": {"symbol": "contracts_list", "signature": "(prefix: string?) async -> json"}},
        "analytics/1": {"deliver": {"symbol": "contracts_deliver", "signature": "(events: json) async -> json"}},
        "jobs/1": {
            "put": {"symbol": "contracts_deliver", "signature": "(job: json) async -> json", "delivered": true},
            "deliver": {"symbol": "contracts_deliver", "signature": "(jobs: json) async -> json"}
        }
    }
});

typedef struct contracts {
    connector_gate gate;
    uint64_t operation;
    char endpoint[512];
} contracts;

/** The text of a refusal, reversed, so that no host finds a key in it. */
static void vendor_answered(void *user, int32_t status, const connector_http_response *response,
                            const connector_error *error) {
    const contracts *self = user;
    const connector_host *host = self->gate.host;
    connector_error refusal = connector_error_of("contracts");
    char turned[400];
    size_t index, length;
    if (status != CONNECTOR_OK) {
        host->complete(host->context, self->operation, status, NULL, 0, error);
        return;
    }
    if (response->status != 401) {
        connector_complete_evidence(host, self->operation, "reachable", "the server answers");
        return;
    }
    length = response->body_length < sizeof turned ? (size_t)response->body_length : sizeof turned - 1;
    for (index = 0; index < length; index++) turned[index] = (char)response->body[length - 1 - index];
    turned[length] = '\0';
    connector_fail(&refusal, CONNECTOR_UNAUTHORIZED, "the server said, backwards: %s", turned);
    connector_complete_failure(host, self->operation, &refusal);
}

static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    contracts *self = instance;
    connector_http_request request;
    connector_http_header header = {"Authorization", 13, "Bearer {{secret:key}}", 21};
    uint64_t identifier;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.method = "GET";
    request.method_length = 3;
    request.url = self->endpoint;
    request.url_length = strlen(self->endpoint);
    request.headers = &header;
    request.header_count = 1;
    request.deadline_ns = call->deadline_ns;
    self->operation = call->operation;
    return self->gate.http->request(self->gate.http->context, &request, vendor_answered, self, &identifier, error);
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    const connector_json object = connector_json_parse(config, length);
    const connector_json rule = connector_json_member(object, "rule");
    contracts *self = calloc(1, sizeof *self);
    int32_t status = CONNECTOR_FAILED;
    if (self == NULL) return status;
    status = connector_gate_create(&self->gate, host, "contracts", error);
    if (status == CONNECTOR_OK)
        status = connector_json_string(connector_json_member(object, "endpoint"), self->endpoint, sizeof self->endpoint);
    if (status != CONNECTOR_OK) return free(self), connector_fail(error, status, "the endpoint is too long");
    if (connector_json_equals(rule, "hosts-declared", 14)) strcpy(self->endpoint, "http://undeclared.example/");
    *instance = self;
    return CONNECTOR_OK;
}

static int32_t answer(void *instance, const connector_call *call, const char *text) {
    const connector_host *host = ((const contracts *)instance)->gate.host;
    return host->complete(host->context, call->operation, CONNECTOR_OK, (const uint8_t *)text, strlen(text), NULL);
}

CONNECTOR_EXPORT int32_t contracts_list(void *instance, const connector_call *call, const char *prefix, uint64_t length,
                                        connector_error *error) {
    (void)prefix, (void)length, (void)error;
    return answer(instance, call, "[1]");
}

CONNECTOR_EXPORT int32_t contracts_deliver(void *instance, const connector_call *call, const char *events,
                                           uint64_t length, connector_error *error) {
    (void)events, (void)length, (void)error;
    return answer(instance, call, "[]");
}

CONNECTOR_EXPORT const connector_plugin *contracts_entry(void) {
    static const connector_plugin plugin = {sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate,
                                            NULL, NULL, free, NULL};
    return &plugin;
}
