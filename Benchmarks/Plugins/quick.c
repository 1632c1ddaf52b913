/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * quick: opens within the call, and offers one operation of each kind that is measured.
 *
 * The benchmarks load up to a thousand copies of it, in each of which Programs/generate.c has replaced the 0000 by another number.
 */
#include <connector/connector.h>
#include <stdlib.h>
#include <string.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "quick-0000",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "quick_entry",
    "documentation": "Does next to nothing, so that what is measured is the host.",
    "language": "c",
    "thread": "any",
    "capabilities": {
        "benchmark/1": {
            "add": {"symbol": "quick_add", "signature": "(a: i64, b: i64) -> i64", "documentation": "The sum."},
            "sum": {"symbol": "quick_add", "signature": "(a: i64, b: i64) -> i64", "documentation": "The sum.", "prompt": true},
            "invert": {"symbol": "quick_invert", "signature": "(bytes: bytes, into: out bytes)"},
            "measure": {"symbol": "quick_measure", "signature": "(bytes: bytes) -> u64"},
            "answer": {"symbol": "quick_answer", "signature": "(request: json) async -> json"}
        }
    },
    "configuration": {
        "endpoint": {"type": "url", "default": "https://api.example.com/v1", "documentation": "Where the vendor is."},
        "key": {"type": "string", "secret": true, "documentation": "What the vendor knows us by."}
    },
    "services": {"required": ["log/1"], "optional": ["clock/1"]}
});

typedef struct quick {
    const connector_host *host;
} quick;

static int32_t quick_create(const connector_host *host, const char *config, uint64_t length, void **instance,
                            connector_error *error) {
    quick *self = malloc(sizeof(quick));
    (void)config;
    (void)length;
    (void)error;
    if (self == NULL) return CONNECTOR_FAILED;
    self->host = host;
    *instance = self;
    return CONNECTOR_OK;
}

static int32_t quick_open(void *instance, const connector_call *call, connector_error *error) {
    static const char evidence[] = "[{\"kind\":\"configured\",\"detail\":\"nothing to connect to\"}]";
    const quick *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)evidence,
                         sizeof(evidence) - 1, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT const connector_plugin *quick_entry(void) {
    static const connector_plugin plugin = {
        sizeof(connector_plugin), CONNECTOR_ABI_VERSION, quick_create, quick_open, NULL, NULL, free, NULL};
    return &plugin;
}

CONNECTOR_EXPORT int32_t quick_add(void *instance, int64_t a, int64_t b, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = (int64_t)((uint64_t)a + (uint64_t)b);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t quick_invert(void *instance, const uint8_t *bytes, uint64_t bytes_length, uint8_t *into,
                                      uint64_t capacity, uint64_t *length, connector_error *error) {
    (void)instance;
    (void)error;
    *length = bytes_length;
    if (capacity < bytes_length) return CONNECTOR_TOO_LARGE;
    for (uint64_t i = 0; i < bytes_length; i++) into[i] = (uint8_t)~bytes[i];
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t quick_measure(void *instance, const uint8_t *bytes, uint64_t bytes_length, uint64_t *result,
                                       connector_error *error) {
    (void)instance;
    (void)bytes;
    (void)error;
    *result = bytes_length;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t quick_answer(void *instance, const connector_call *call, const char *request_borrowed,
                                      uint64_t request_length, connector_error *error) {
    const quick *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)request_borrowed,
                         request_length, NULL);
    return CONNECTOR_OK;
}
