/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * rates.c: exchange rates of openexchangerates.org, the adapter of ../Sources/rates in C: a request over http/1 with a
 * secret that it never sees, and a gate that opens on an answer that only the vendor gives.
 */
#include <connector/author.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "rates-c",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "rates_plugin",
    "language": "c",
    "documentation": "Exchange rates of openexchangerates.org.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "https://openexchangerates.org/api"},
        "appId": {"type": "string", "required": true, "secret": true, "documentation": "The App ID of the account."}
    },
    "capabilities": {
        "rates/1": {
            "rate": {
                "symbol": "rates_rate",
                "signature": "(currency: string) async -> json",
                "documentation": "What a US dollar is in a currency, such as EUR."
            }
        }
    }
});

/* One gate. It is never changed after `create`, so that any thread may read it. */
typedef struct rates {
    connector_gate gate;
    char endpoint[512];
} rates;

/* The answer to `open`. A status alone proves nothing: a captive portal says 200, too. */
static void usage_answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_json answer = connector_json_parse(response->body, response->body_length);
    const connector_json usage = connector_json_member(connector_json_member(answer, "data"), "usage");
    int64_t rest;
    if (connector_json_int64(connector_json_member(usage, "requests_remaining"), &rest)) {
        connector_complete_evidence(exchange->gate->host, exchange->operation, "authenticated",
                                    "the server knows the App ID");
    } else {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL,
                                "the answer is not the vendor's: it has no requests_remaining");
    }
}

/* The answer to `rate`; the note is the currency. */
static void rate_answered(const connector_exchange *exchange, const connector_http_response *response) {
    const connector_json answer = connector_json_parse(response->body, response->body_length);
    const connector_json table = connector_json_member(answer, "rates");
    const connector_json rate = connector_json_member(table, exchange->note);
    connector_text result = {NULL, 0, 0, 0};
    if (!connector_json_begins(table, '{')) {
        connector_exchange_fail(exchange, CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no rates");
    } else if (!connector_json_is_number(rate)) {
        connector_exchange_fail(exchange, CONNECTOR_NOT_FOUND, "there is no rate of %s", exchange->note);
    } else {
        connector_text_json(&result, rate);
        connector_complete_text(exchange->gate->host, exchange->operation, &result);
    }
}

CONNECTOR_EXPORT int32_t rates_rate(void *instance, const connector_call *call_borrowed, const char *currency_borrowed,
                                    uint64_t length, connector_error *error) {
    const rates *self = instance;
    connector_exchange exchange = {NULL, 0, rate_answered, ""};
    connector_text url = {NULL, 0, 0, 0};
    size_t index;
    for (index = 0; index < length && currency_borrowed[index] >= 'A' && currency_borrowed[index] <= 'Z'; index++) continue;
    if (length != 3 || index != 3) {
        return connector_fail(error, CONNECTOR_INVALID, "a currency has three capital letters, such as EUR");
    }
    memcpy(exchange.note, currency_borrowed, 3);
    connector_text_base(&url, self->endpoint);
    connector_text_put(&url, "/latest.json?symbols=");
    connector_text_encode(&url, currency_borrowed, 3);
    /* The host puts the value in as it sends the request. */
    connector_text_put(&url, "&app_id={{secret:appId}}");
    return connector_get(&self->gate, call_borrowed, &url, exchange, error);
}

/* Asks what is left of the account's quota, which proves the key and costs nothing. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    const rates *self = instance;
    const connector_exchange exchange = {NULL, 0, usage_answered, ""};
    connector_text url = {NULL, 0, 0, 0};
    connector_text_base(&url, self->endpoint);
    connector_text_put(&url, "/usage.json?app_id={{secret:appId}}");
    return connector_get(&self->gate, call_borrowed, &url, exchange, error);
}

static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    const connector_json config = connector_json_parse(config_borrowed, config_length);
    rates *self = calloc(1, sizeof *self);
    int32_t status;
    if (self == NULL) return connector_fail(error, CONNECTOR_FAILED, "out of memory");
    status = connector_gate_create(&self->gate, host, "rates", error);
    if (status == CONNECTOR_OK) {
        status = connector_json_string(connector_json_member(config, "endpoint"), self->endpoint, sizeof self->endpoint);
        if (status != CONNECTOR_OK) connector_fail(error, status, "the endpoint is longer than 511 bytes");
    }
    if (status == CONNECTOR_OK) *instance_owned = self;
    else free(self);
    return status;
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *rates_plugin(void) {
    static const connector_plugin plugin = {
        sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}
