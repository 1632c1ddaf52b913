/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * frees-on-cancel: an operation that holds its thread until the host cancels it, and one that does not know its call until
 * then. With the field "cancel", which is "blocks", cancel itself never returns; with "opens", which is "refuses", open
 * fails.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <pthread.h>
#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "frees-on-cancel",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "frees_entry",
    "documentation": "Holds threads until its calls are cancelled.",
    "configuration": {"cancel": {"type": "string"}, "opens": {"type": "string"}},
    "capabilities": {
        "frees/1": {
            "hold": {"symbol": "frees_hold", "signature": "() async -> json"},
            "wait": {"symbol": "frees_wait", "signature": "() async -> json"},
            "late": {"symbol": "frees_late", "signature": "() async -> json"},
            "held": {"symbol": "frees_held", "signature": "() -> i64"},
            "cancelled": {"symbol": "frees_cancelled", "signature": "() -> i64"},
            "stopped": {"symbol": "frees_stopped", "signature": "() -> i64"}
        }
    }
});

#define LIMIT 4096

/* For the process: tests that use the plugin run one after the other. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t cancelled[LIMIT];
static int64_t cancelled_count, held;
/** The call that "late" has accepted last, and how many of its calls were cancelled after that. */
static uint64_t accepted;
static int64_t stopped;

static int is_cancelled(uint64_t operation) {
    int64_t index;
    for (index = 0; index < cancelled_count; index++)
        if (cancelled[index] == operation) return 1;
    return 0;
}

static int32_t frees_open(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    if (strstr(self->config, "refuses") != NULL)
        return fixture_fail(error, CONNECTOR_UNAUTHORIZED, "the vendor refused the credentials");
    return fixture_open(instance, call, error);
}

CONNECTOR_EXPORT int32_t frees_hold(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    uint64_t operation = call->operation;
    (void)error;
    pthread_mutex_lock(&mutex);
    held++;
    while (!is_cancelled(operation)) pthread_cond_wait(&changed, &mutex);
    held--;
    pthread_mutex_unlock(&mutex);
    self->host->complete(self->host->context, operation, CONNECTOR_CANCELLED, NULL, 0, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t frees_wait(void *instance, const connector_call *call, connector_error *error) {
    (void)instance, (void)call, (void)error;
    pthread_mutex_lock(&mutex);
    held++;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

/** Accepts its call only after it was cancelled. */
CONNECTOR_EXPORT int32_t frees_late(void *instance, const connector_call *call, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    held++;
    while (!is_cancelled(call->operation)) pthread_cond_wait(&changed, &mutex);
    held--;
    accepted = call->operation;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t frees_held(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = held;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t frees_cancelled(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = cancelled_count;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t frees_stopped(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    pthread_mutex_lock(&mutex);
    *result = stopped;
    pthread_mutex_unlock(&mutex);
    return CONNECTOR_OK;
}

static void cancel(void *instance, uint64_t operation) {
    const fixture *self = instance;
    while (strstr(self->config, "blocks") != NULL) pause();
    pthread_mutex_lock(&mutex);
    if (accepted == operation) stopped++;
    if (cancelled_count < LIMIT && !is_cancelled(operation)) cancelled[cancelled_count++] = operation;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

CONNECTOR_EXPORT const connector_plugin *frees_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create, frees_open,
                                            NULL, NULL, fixture_destroy, cancel};
    return &plugin;
}
