/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * blocks: operations that hold their threads until "release"; "linger" completes first, and then holds its thread.
 * Three of those that hold are said to be prompt.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <pthread.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "blocks",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Blocks.",
    "capabilities": {
        "blocks/1": {
            "hold": {"symbol": "blocks_hold", "signature": "() -> i64"},
            "begin": {"symbol": "blocks_begin", "signature": "() async -> json"},
            "holdPromptly": {"symbol": "blocks_hold", "signature": "() -> i64", "prompt": true},
            "holdFor": {"symbol": "blocks_hold_for", "signature": "(a: i64) -> i64", "prompt": true},
            "beginPromptly": {"symbol": "blocks_begin", "signature": "() async -> json", "prompt": true},
            "linger": {"symbol": "blocks_linger", "signature": "() async -> json"},
            "pass": {"symbol": "blocks_pass", "signature": "() -> i64"},
            "held": {"symbol": "blocks_held", "signature": "() -> i64"},
            "freed": {"symbol": "blocks_freed", "signature": "() -> i64"},
            "release": {"symbol": "blocks_release", "signature": "() -> i64"}
        }
    }
});

/* One for the process: only one test at a time uses the plugin. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int64_t held;
/** How many have been released. */
static int64_t freed;
static int64_t generation;

static void hold(void) {
    int64_t mine;
    pthread_mutex_lock(&mutex);
    mine = generation;
    held++;
    while (mine == generation) pthread_cond_wait(&changed, &mutex);
    held--;
    freed++;
    pthread_mutex_unlock(&mutex);
}

CONNECTOR_EXPORT int32_t blocks_hold(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    hold();
    *result = 1;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_hold_for(void *instance, int64_t a, int64_t *result, connector_error *error) {
    (void)a;
    return blocks_hold(instance, result, error);
}

CONNECTOR_EXPORT int32_t blocks_begin(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    uint64_t operation = call->operation;
    (void)error;
    hold();
    self->host->complete(self->host->context, operation, CONNECTOR_OK, (const uint8_t *)"1", 1, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_linger(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"1", 1, NULL);
    hold();
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_pass(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 2;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_held(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = held;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_freed(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = freed;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_release(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = held;
    generation++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
