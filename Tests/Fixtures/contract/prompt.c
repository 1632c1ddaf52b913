/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * prompt: operations that its manifest calls prompt, beside one that it does not. Those named after threads answer the thread
 * that they run on.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <pthread.h>
#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "prompt",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Returns at once.",
    "capabilities": {
        "prompt/1": {
            "add": {"symbol": "prompt_add", "signature": "(a: i64, b: f64, c: string?) -> f64", "prompt": true},
            "thread": {"symbol": "prompt_thread", "signature": "() -> u64", "prompt": true},
            "threadFor": {"symbol": "prompt_thread_for", "signature": "(a: i64) -> u64", "prompt": true},
            "begin": {"symbol": "prompt_begin", "signature": "() async -> json", "prompt": true},
            "elsewhere": {"symbol": "prompt_thread_for", "signature": "(a: i64) -> u64", "prompt": false},
            "fail": {"symbol": "prompt_fail", "signature": "(a: i64)", "prompt": true},
            "claim": {"symbol": "prompt_claim", "signature": "(kind: i64) -> json", "prompt": true}
        }
    }
});

static uint64_t this_thread(void) { return (uint64_t)(uintptr_t)pthread_self(); }

CONNECTOR_EXPORT int32_t prompt_add(void *instance, int64_t a, double b, const char *c, uint64_t c_length, double *result,
                                    connector_error *error) {
    (void)instance, (void)c, (void)error;
    *result = (double)a + b + (double)c_length;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t prompt_thread(void *instance, uint64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = this_thread();
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t prompt_thread_for(void *instance, int64_t a, uint64_t *result, connector_error *error) {
    (void)instance, (void)a, (void)error;
    *result = this_thread();
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t prompt_begin(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    char text[32];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)this_thread());
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)text, (uint64_t)length, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t prompt_fail(void *instance, int64_t a, connector_error *error) {
    (void)instance, (void)a;
    return fixture_fail(error, CONNECTOR_CONFLICT, "it is taken");
}

/** Answers what is not JSON; with the kind 1, a length and no bytes. */
CONNECTOR_EXPORT int32_t prompt_claim(void *instance, int64_t kind, connector_bytes_owned *result, connector_error *error) {
    (void)instance, (void)error;
    result->data = kind == 1 ? NULL : (const uint8_t *)"words";
    result->length = 5;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
