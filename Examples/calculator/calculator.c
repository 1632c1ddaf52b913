/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A complete plugin in C, with a capability of its own that the host does not know: the manifest defines it.
 */
#include "expression.h"

#include <connector/connector.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "calculator",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "calculator_plugin",
    "language": "c",
    "documentation": "Calculates with numbers.",
    "capabilities": {
        "calculator/1": {
            "add": {
                "symbol": "calculator_add",
                "signature": "(a: f64, b: f64) -> f64",
                "documentation": "a + b",
                "prompt": true
            },
            "divide": {
                "symbol": "calculator_divide",
                "signature": "(a: f64, b: f64) -> f64",
                "documentation": "a / b",
                "prompt": true
            },
            "evaluate": {
                "symbol": "calculator_evaluate",
                "signature": "(expression: string) async -> json",
                "documentation": "The value of an expression such as (1 + 2) * 3 / 4."
            }
        }
    }
});

static int32_t failed(connector_error *error, const char *message) {
    strcpy(error->domain, "calculator");
    snprintf(error->message, sizeof error->message, "%s", message);
    return error->code = CONNECTOR_INVALID;
}

/* An operation is an exported function whose prototype follows from its signature: see connector/operation.h. */
CONNECTOR_EXPORT int32_t calculator_add(void *instance, double a, double b, double *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = a + b;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t calculator_divide(void *instance, double a, double b, double *result, connector_error *error) {
    (void)instance;
    if (b == 0) return failed(error, "division by zero");
    *result = a / b;
    return CONNECTOR_OK;
}

/* Writes a number as JSON. printf uses the decimal separator of the locale, which the application chooses, so everything that is
 * no digit, sign or exponent becomes a point. */
static void number_text(double value, char text[32]) {
    char printed[32];
    const char *next = printed;
    snprintf(printed, sizeof printed, "%.17g", value);
    while (*next != 0) {
        size_t length = strspn(next, "0123456789+-e");
        memcpy(text, next, length);
        text += length;
        next += length;
        if (*next == 0) break;
        *text++ = '.';
        next += strcspn(next, "0123456789");
    }
    *text = 0;
}

/* An asynchronous operation completes through the host, exactly once. This one is quick, so it completes before it returns. One
 * that waits would keep call_borrowed->operation and complete later, from any thread, instead of blocking this one. */
CONNECTOR_EXPORT int32_t calculator_evaluate(void *instance, const connector_call *call_borrowed, const char *expression,
                                             uint64_t length, connector_error *error) {
    const connector_host *host = *(const connector_host **)instance;
    char number[32];
    char json[64];
    double value;
    const char *problem = expression_value(expression, length, &value);
    if (problem != NULL) return failed(error, problem); /* The call has failed: do not complete it. */
    number_text(value, number);
    int count = snprintf(json, sizeof json, "{\"value\": %s}", number);
    return host->complete(host->context, call_borrowed->operation, CONNECTOR_OK, (const uint8_t *)json, (uint64_t)count,
                          NULL);
}

/* One instance serves each connector that names the plugin. This one only keeps the host, which completes calls. */
static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    const connector_host **instance = malloc(sizeof *instance);
    (void)config_borrowed;
    (void)config_length;
    (void)error;
    if (instance == NULL) return CONNECTOR_FAILED;
    *instance = host;
    *instance_owned = instance;
    return CONNECTOR_OK;
}

/* Opens at once. There is no server to reach, so the gate can only claim to be configured. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    static const char evidence[] = "[{\"kind\": \"configured\", \"detail\": \"needs no server\"}]";
    const connector_host *host = *(const connector_host **)instance;
    (void)error;
    return host->complete(host->context, call_borrowed->operation, CONNECTOR_OK, (const uint8_t *)evidence,
                          sizeof evidence - 1, NULL);
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *calculator_plugin(void) {
    static const connector_plugin plugin = {
        sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}
