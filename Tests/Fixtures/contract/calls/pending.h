/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls/pending.h: the calls that are left pending, in one list for all gates of the image.
 */
#ifndef CONTRACT_CALLS_PENDING_H
#define CONTRACT_CALLS_PENDING_H

#include "gate.h"

/** A call that was taken on and, as far as the plugin knows, not completed. */
typedef struct pending_call {
    char name[NAME_SIZE];
    /** Stays valid after the gate is gone. */
    const connector_host *host;
    uint64_t operation;
    int is_cancelled;
    /** Null once the gate is gone. */
    gate *owner;
    struct pending_call *next;
} pending_call;

static pending_call *calls;

/** Puts a call into the list. */
static void keep(gate *self, const char *name, uint64_t operation) {
    pending_call *call = calloc(1, sizeof(pending_call));
    if (call == NULL) return;
    copy_name(call->name, name, strlen(name));
    call->host = self->host;
    call->operation = operation;
    call->owner = self;
    pthread_mutex_lock(&lock);
    call->next = calls;
    calls = call;
    self->running++;
    if (self->running > self->most) self->most = self->running;
    pthread_mutex_unlock(&lock);
}

/** The latest call of a name; it stays in the list. */
static int find(const char *text, uint64_t length, pending_call *result) {
    char name[NAME_SIZE];
    pending_call *call;
    copy_name(name, text, length);
    pthread_mutex_lock(&lock);
    for (call = calls; call != NULL && strcmp(call->name, name) != 0;) call = call->next;
    if (call != NULL) *result = *call;
    pthread_mutex_unlock(&lock);
    return call != NULL;
}

static void count_out(gate *owner) {
    if (owner == NULL) return;
    pthread_mutex_lock(&lock);
    if (owner->running > 0) owner->running--;
    pthread_mutex_unlock(&lock);
}

/** Leaves a step pending under the gate's name and the step's. */
static int32_t hold(gate *self, const char *step, uint64_t operation) {
    char name[2 * NAME_SIZE];
    snprintf(name, sizeof(name), "%s:%s", self->name, step);
    keep(self, name, operation);
    return CONNECTOR_OK;
}

#endif
