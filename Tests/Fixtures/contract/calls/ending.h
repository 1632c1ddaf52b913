/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls/ending.h: operations that end what another call left pending, report its progress, or count calls and gates.
 */
#ifndef CONTRACT_CALLS_ENDING_H
#define CONTRACT_CALLS_ENDING_H

#include "pending.h"

/** Completes a call in the name of this gate; the answer is the host's. */
CONNECTOR_EXPORT int32_t calls_finish(void *instance, const char *name, uint64_t name_length, const char *json,
                                      uint64_t json_length, int32_t *result, connector_error *error) {
    gate *self = instance;
    pending_call call;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    *result = self->host->complete(self->host->context, call.operation, CONNECTOR_OK, (const uint8_t *)json, json_length,
                                   NULL);
    if (*result == CONNECTOR_OK) count_out(call.owner);
    return CONNECTOR_OK;
}

/** Completes a call in the name of the gate that has, or had, it pending. */
CONNECTOR_EXPORT int32_t calls_finish_as_owner(void *instance, const char *name, uint64_t name_length, const char *json,
                                               uint64_t json_length, int32_t *result, connector_error *error) {
    pending_call call;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    count_out(call.owner);
    *result = call.host->complete(call.host->context, call.operation, CONNECTOR_OK, (const uint8_t *)json, json_length,
                                  NULL);
    return CONNECTOR_OK;
}

/** Fails a call in the name of the gate that has it pending. */
CONNECTOR_EXPORT int32_t calls_fail(void *instance, const char *name, uint64_t name_length, int32_t status,
                                    int32_t *result, connector_error *error) {
    pending_call call;
    connector_error failure;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    count_out(call.owner);
    memset(&failure, 0, sizeof(failure));
    failure.struct_size = sizeof(failure);
    failure.retry_after_ns = 3000000000u;
    fixture_fail(&failure, status, "it went wrong later");
    *result = call.host->complete(call.host->context, call.operation, status, NULL, 0, &failure);
    return CONNECTOR_OK;
}

/** Completes an operation of any number. */
CONNECTOR_EXPORT int32_t calls_invent(void *instance, uint64_t operation, int32_t *result, connector_error *error) {
    gate *self = instance;
    (void)error;
    *result = complete(self->host, operation, "null");
    return CONNECTOR_OK;
}

/** Reports the progress of a call. */
CONNECTOR_EXPORT int32_t calls_progress(void *instance, const char *name, uint64_t name_length, const char *text,
                                        uint64_t length, int32_t *result, connector_error *error) {
    pending_call call;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    *result = call.host->progress(call.host->context, call.operation, text, length);
    return CONNECTOR_OK;
}

/** How many cancellations came, how many calls run, and how many ever ran at once, this one included, in this gate. */
CONNECTOR_EXPORT int32_t calls_counts(void *instance, uint64_t *cancels, uint64_t *running, uint64_t *most,
                                      connector_error *error) {
    gate *self = instance;
    uint64_t inside = __atomic_add_fetch(&self->counting, 1, __ATOMIC_SEQ_CST);
    (void)error;
    sched_yield();
    pthread_mutex_lock(&lock);
    if (inside > 1 && inside > self->most) self->most = inside;
    *cancels = self->cancels;
    *running = self->running;
    *most = self->most;
    pthread_mutex_unlock(&lock);
    __atomic_sub_fetch(&self->counting, 1, __ATOMIC_SEQ_CST);
    return CONNECTOR_OK;
}

/** How many instances of the gates of a name were created, closed and destroyed. */
CONNECTOR_EXPORT int32_t calls_lives(void *instance, const char *text, uint64_t length, uint64_t *created,
                                     uint64_t *closed, uint64_t *destroyed, connector_error *error) {
    char name[NAME_SIZE];
    (void)instance;
    (void)error;
    copy_name(name, text, length);
    pthread_mutex_lock(&lock);
    *created = recall(name)->created;
    *closed = recall(name)->closed;
    *destroyed = recall(name)->destroyed;
    pthread_mutex_unlock(&lock);
    return CONNECTOR_OK;
}

/** The status that proofs of a gate end with from now on, and its openings if it opens "switched"; negative leaves proofs pending. */
CONNECTOR_EXPORT int32_t calls_probes(void *instance, const char *text, uint64_t length, int32_t status,
                                      connector_error *error) {
    char name[NAME_SIZE];
    (void)instance;
    (void)error;
    copy_name(name, text, length);
    pthread_mutex_lock(&lock);
    recall(name)->probe_status = status;
    pthread_mutex_unlock(&lock);
    return CONNECTOR_OK;
}

#endif
