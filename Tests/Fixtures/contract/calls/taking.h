/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls/taking.h: operations that take a call on, or do not, and answer at once, later or never.
 */
#ifndef CONTRACT_CALLS_TAKING_H
#define CONTRACT_CALLS_TAKING_H

#include "pending.h"

/** Leaves the call pending under a name. */
CONNECTOR_EXPORT int32_t calls_begin(void *instance, const connector_call *call, const char *name, uint64_t length,
                                     connector_error *error) {
    char copy[NAME_SIZE];
    (void)error;
    copy_name(copy, name, length);
    keep(instance, copy, call->operation);
    return CONNECTOR_OK;
}

/** Answers as the configuration says: "replies", "fails", or what it was given. */
CONNECTOR_EXPORT int32_t calls_answer(void *instance, const connector_call *call, const char *json, uint64_t length,
                                      connector_error *error) {
    gate *self = instance;
    char text[512];
    if (is_set(self, "fails", "away")) return unavailable(error, 0);
    if (is_set(self, "fails", "silently away")) return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor is away");
    if (is_set(self, "fails", "strange")) return fixture_fail(error, CONNECTOR_PROTOCOL, "the answer is not the vendor's");
    if (is_set(self, "fails", "wrong")) return fixture_fail(error, CONNECTOR_INVALID, "it does not like the value");
    setting(self, "replies", text, sizeof(text));
    if (strcmp(text, "later") == 0) return hold(self, "answer", call->operation);
    if (text[0] != 0) {
        complete(self->host, call->operation, text);
    } else {
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)json, length, NULL);
    }
    return CONNECTOR_OK;
}

/** Does not take the call on. */
CONNECTOR_EXPORT int32_t calls_refuse(void *instance, const connector_call *call, int32_t status,
                                      connector_error *error) {
    (void)instance;
    (void)call;
    error->detail = 418;
    return fixture_fail(error, status, "refused");
}

/** Refuses the call, and completes it all the same. */
CONNECTOR_EXPORT int32_t calls_both(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    complete(self->host, call->operation, "true");
    return fixture_fail(error, CONNECTOR_FAILED, "refused after it was completed");
}

/** Completes a call with a length but no bytes, or with more than any limit allows. */
CONNECTOR_EXPORT int32_t calls_overflow(void *instance, const connector_call *call, uint64_t length,
                                        connector_error *error) {
    gate *self = instance;
    static const uint8_t byte = '1';
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, length == 1 ? NULL : &byte, length, NULL);
    return CONNECTOR_OK;
}

#endif
