/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * rates.c: exchange rates of openexchangerates.org, the adapter of ../Sources/rates in C: a request over http/1 with a
 * secret that it never sees, and a gate that opens on an answer that only the vendor gives.
 */
#include <connector/connector.h>
#include <connector/services/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "rates-c",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "rates_plugin",
    "language": "c",
    "documentation": "Exchange rates of openexchangerates.org.",
    "services": {"required": ["http/1"]},
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
    const connector_host *host;
    const connector_http *http;
    char endpoint[512];
} rates;

/* One call, from its request to its completion. */
typedef struct rates_call {
    const rates *self;
    uint64_t operation;
    /* The currency that was asked for; empty for the proof. */
    char currency[4];
} rates_call;

static int32_t fail(connector_error *error, int32_t status, const char *message) {
    if (error == NULL) return status;
    error->code = status;
    snprintf(error->message, sizeof error->message, "%s", message);
    return status;
}

/* The value of a member "NAME" of a JSON text, up to the next comma or bracket: enough for numbers and short strings, which is what
 * this vendor's answers hold there. Returns its length; 0 if there is none. */
static size_t member(const char *json, size_t length, const char *name, const char **value) {
    char quoted[32];
    const size_t count = (size_t)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    size_t start, end;
    for (start = 0; start + count < length; start++) {
        if (memcmp(json + start, quoted, count) != 0) continue;
        for (start += count; start < length && strchr(" \t\r\n:", json[start]) != NULL; start++) continue;
        for (end = start; end < length && strchr(",}] \r\n", json[end]) == NULL; end++) continue;
        *value = json + start;
        return end - start;
    }
    return 0;
}

static void complete(const rates_call *call, int32_t status, const char *result, size_t length,
                     const connector_error *error) {
    const connector_host *host = call->self->host;
    host->complete(host->context, call->operation, status, (const uint8_t *)result, length, error);
}

static void complete_with(const rates_call *call, int32_t status, int32_t retryable, const char *message) {
    connector_error error;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    error.retryable = retryable;
    snprintf(error.domain, sizeof error.domain, "rates");
    fail(&error, status, message);
    complete(call, status, NULL, 0, &error);
}

/* An HTTP status that is no success, in the words of the ABI. */
static void complete_refusal(const rates_call *call, uint32_t status) {
    char message[80];
    snprintf(message, sizeof message, "the server answered HTTP %u", (unsigned)status);
    if (status == 401 || status == 403) {
        complete_with(call, CONNECTOR_UNAUTHORIZED, 0, message);
    } else if (status == 429) {
        complete_with(call, CONNECTOR_RATE_LIMITED, 1, message);
    } else if (status >= 500) {
        complete_with(call, CONNECTOR_UNAVAILABLE, 1, message);
    } else {
        complete_with(call, CONNECTOR_FAILED, 0, message);
    }
}

/* Runs on a thread of the host, once for each request. */
static void answered(void *user, int32_t status, const connector_http_response *response_borrowed,
                     const connector_error *error_borrowed) {
    rates_call *call = user;
    const char *value = NULL, *json;
    size_t length;
    if (status != CONNECTOR_OK) {
        /* No answer: refused, timed out, forbidden. The host said why. */
        complete(call, status, NULL, 0, error_borrowed);
    } else if (response_borrowed->status != 200) {
        complete_refusal(call, response_borrowed->status);
    } else {
        json = (const char *)response_borrowed->body;
        length = (size_t)response_borrowed->body_length;
        if (call->currency[0] == '\0') {
            /* A status alone proves nothing: a captive portal says 200, too. */
            static const char evidence[] = "[{\"kind\": \"authenticated\", \"detail\": \"the server knows the App ID\"}]";
            if (member(json, length, "requests_remaining", &value) > 0) {
                complete(call, CONNECTOR_OK, evidence, sizeof evidence - 1, NULL);
            } else {
                complete_with(call, CONNECTOR_PROTOCOL, 1, "the answer is not the vendor's: it has no requests_remaining");
            }
        } else if (member(json, length, "rates", &value) == 0) {
            complete_with(call, CONNECTOR_PROTOCOL, 1, "the answer is not the vendor's: it has no rates");
        } else if ((length = member(json, length, call->currency, &value)) == 0) {
            complete_with(call, CONNECTOR_NOT_FOUND, 0, "there is no rate of that currency");
        } else {
            complete(call, CONNECTOR_OK, value, length, NULL);
        }
    }
    free(call);
}

/* Sends a request; {{secret:appId}} is replaced by the host. */
static int32_t ask(const rates *self, const connector_call *call_borrowed, const char *path, const char *currency,
                   connector_error *error) {
    connector_http_request request;
    char url[640];
    uint64_t id;
    int32_t status;
    rates_call *call = calloc(1, sizeof *call);
    if (call == NULL) return fail(error, CONNECTOR_FAILED, "out of memory");
    call->self = self;
    call->operation = call_borrowed->operation;
    memcpy(call->currency, currency, strlen(currency) + 1);
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.method = "GET";
    request.method_length = 3;
    request.url = url;
    request.url_length = (uint64_t)snprintf(url, sizeof url, "%s/%s?symbols=%s&app_id={{secret:appId}}", self->endpoint, path,
                                            currency);
    request.deadline_ns = call_borrowed->deadline_ns;
    status = self->http->request(self->http->context, &request, answered, call, &id, error);
    /* `answered` never runs for a request that was refused. */
    if (status != CONNECTOR_OK) free(call);
    return status;
}

CONNECTOR_EXPORT int32_t rates_rate(void *instance, const connector_call *call_borrowed, const char *currency_borrowed,
                                    uint64_t length, connector_error *error) {
    char currency[4] = {0};
    size_t index;
    for (index = 0; index < 3 && index < length; index++) {
        if (currency_borrowed[index] < 'A' || currency_borrowed[index] > 'Z') break;
        currency[index] = currency_borrowed[index];
    }
    if (index != 3 || length != 3) {
        return fail(error, CONNECTOR_INVALID, "a currency has three capital letters, such as EUR");
    }
    return ask(instance, call_borrowed, "latest.json", currency, error);
}

/* Asks what is left of the account's quota, which proves the key and costs nothing. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    return ask(instance, call_borrowed, "usage.json", "", error);
}

static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    static const char http[] = CONNECTOR_HTTP_SERVICE;
    const char *endpoint = NULL;
    size_t length = member(config_borrowed, (size_t)config_length, "endpoint", &endpoint);
    rates *self = calloc(1, sizeof *self);
    if (self == NULL) return fail(error, CONNECTOR_FAILED, "out of memory");
    self->host = host;
    self->http = host->service(host->context, http, sizeof http - 1);
    /* The value stands in quotes. */
    if (self->http == NULL || length < 3 || length - 2 >= sizeof self->endpoint) {
        free(self);
        return fail(error, CONNECTOR_INVALID, "http/1 is missing, or the endpoint is longer than 511 bytes");
    }
    memcpy(self->endpoint, endpoint + 1, length - 2);
    *instance_owned = self;
    return CONNECTOR_OK;
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *rates_plugin(void) {
    static const connector_plugin plugin = {
        sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}
