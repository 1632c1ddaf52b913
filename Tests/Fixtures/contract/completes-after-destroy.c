/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * completes-after-destroy: destroy leaves a thread behind, which completes the last call once more.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"
#include <pthread.h>
#include <time.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "completes-after-destroy",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "late_entry",
    "documentation": "Goes on after it was destroyed."
});

static int32_t open_now(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    self->operation = call->operation;
    return fixture_open(instance, call, error);
}

static void *complete_late(void *copy) {
    struct timespec pause = {0, 5000000};
    fixture *self = copy;
    nanosleep(&pause, NULL);
    fixture_succeed(self, self->operation);
    free(self);
    return NULL;
}

static void destroy_badly(void *instance) {
    pthread_t thread;
    fixture *copy = malloc(sizeof(fixture));
    if (copy != NULL) {
        memcpy(copy, instance, sizeof(fixture));
        if (pthread_create(&thread, NULL, complete_late, copy) == 0) pthread_detach(thread);
    }
    fixture_destroy(instance);
}

CONNECTOR_EXPORT const connector_plugin *late_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create, open_now,
                                            NULL, NULL, destroy_badly, NULL};
    return &plugin;
}
