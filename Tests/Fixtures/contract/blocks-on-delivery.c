/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * blocks-on-delivery: its deliveries, which it says are prompt, hold their threads until "release".
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <pthread.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "blocks-on-delivery",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Blocks when events arrive.",
    "capabilities": {
        "orders/1": {
            "place": {
                "symbol": "blocks_place", "signature": "(event: json) async", "delivered": true, "prompt": true
            }
        },
        "readings/1": {
            "report": {
                "symbol": "blocks_place", "signature": "(event: json) async", "delivered": true, "prompt": true
            },
            "deliver": {"symbol": "blocks_deliver", "signature": "(events: json) async -> json", "prompt": true}
        },
        "blocks/1": {
            "held": {"symbol": "blocks_held", "signature": "() -> i64"},
            "release": {"symbol": "blocks_release", "signature": "() -> i64"}
        }
    }
});

/* One for the process: only one test at a time uses the plugin. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int64_t held;
static int64_t generation;

static int32_t hold(const fixture *self, const connector_call *call, const char *answer) {
    uint64_t operation = call->operation;
    int64_t mine;
    pthread_mutex_lock(&mutex);
    mine = generation;
    held++;
    while (mine == generation) pthread_cond_wait(&changed, &mutex);
    held--;
    pthread_mutex_unlock(&mutex);
    self->host->complete(self->host->context, operation, CONNECTOR_OK, (const uint8_t *)answer, strlen(answer), NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t blocks_place(void *instance, const connector_call *call, const char *json, uint64_t length,
                                      connector_error *error) {
    (void)json, (void)length, (void)error;
    return hold(instance, call, "");
}

CONNECTOR_EXPORT int32_t blocks_deliver(void *instance, const connector_call *call, const char *json, uint64_t length,
                                        connector_error *error) {
    (void)json, (void)length, (void)error;
    return hold(instance, call, "[{\"outcome\":\"accepted\"}]");
}

CONNECTOR_EXPORT int32_t blocks_held(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = held;
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
