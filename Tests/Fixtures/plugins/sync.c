/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sync: opens within the call, and offers operations of every kind.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "sync",
    "version": "1.2.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Opens within the call.",
    "language": "c",
    "capabilities": {
        "calculator/1": {
            "add": {"symbol": "sync_add", "signature": "(a: i64, b: i64) -> i64", "documentation": "The sum."},
            "divide": {"symbol": "sync_divide", "signature": "(a: f64, b: f64) -> f64"},
            "upper": {"symbol": "sync_upper", "signature": "(text: string) -> string"},
            "fill": {"symbol": "sync_fill", "signature": "(value: u8, into: out bytes)"},
            "echo": {"symbol": "sync_echo", "signature": "(value: json) async -> json"}
        }
    },
    "configuration": {
        "greeting": {"type": "string", "default": "hello", "documentation": "What it says."},
        "key": {"type": "string", "secret": true}
    },
    "services": {"optional": ["log/1"]}
});

/* An address with a mark in its highest byte, as optimized Swift code has for each constant string. */
static const char word[] = "constant";
__attribute__((used)) static const uintptr_t marked_address = (uintptr_t)word + ((uintptr_t)0x80 << 56);

CONNECTOR_EXPORT int32_t sync_add(void *instance, int64_t a, int64_t b, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = (int64_t)((uint64_t)a + (uint64_t)b);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t sync_divide(void *instance, double a, double b, double *result, connector_error *error) {
    (void)instance;
    if (b == 0) return fixture_fail(error, CONNECTOR_INVALID, "division by zero");
    *result = a / b;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t sync_upper(void *instance, const char *text_borrowed, uint64_t length,
                                    connector_bytes_owned *result, connector_error *error) {
    uint8_t *copy = malloc(length + 1);
    (void)instance;
    if (copy == NULL) return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
    for (uint64_t i = 0; i < length; i++) {
        char c = text_borrowed[i];
        copy[i] = (uint8_t)(c >= 'a' && c <= 'z' ? c - 32 : c);
    }
    result->data = copy;
    result->length = length;
    result->context = copy;
    result->release = free;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t sync_fill(void *instance, uint8_t value, uint8_t *buffer, uint64_t capacity, uint64_t *length,
                                   connector_error *error) {
    (void)instance;
    (void)error;
    *length = 1024;
    if (capacity < *length) return CONNECTOR_TOO_LARGE;
    memset(buffer, value, 1024);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t sync_echo(void *instance, const connector_call *call, const char *json_borrowed,
                                   uint64_t length, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)json_borrowed, length,
                         NULL);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
