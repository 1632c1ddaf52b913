/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * timers: tells the time, and starts and cancels timers of clock/1, each of which emits an event when it fires.
 */
#include "../fixture.h"

#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "timers",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "timers_entry",
    "documentation": "Starts timers.",
    "services": {"required": ["clock/1", "events/1"]},
    "configuration": {
        "refuses": {"type": "boolean", "documentation": "Whether create fails after it has started a timer of 1000 seconds."}
    },
    "capabilities": {
        "timers/1": {
            "now": {"symbol": "timers_now", "signature": "() -> i64"},
            "day": {"symbol": "timers_day", "signature": "() -> i64"},
            "left": {"symbol": "timers_left", "signature": "() async -> json"},
            "start": {"symbol": "timers_start", "signature": "(slot: i64, delay: i64) -> i64"},
            "cancel": {"symbol": "timers_cancel", "signature": "(slot: i64) -> i64"},
            "wait": {"symbol": "timers_wait", "signature": "(delay: i64) async -> json"},
            "crash": {"symbol": "timers_crash", "signature": "()"}
        }
    }
});

/** A timer that the caller numbers. */
typedef struct slot {
    const struct timers *owner;
    int64_t number;
    uint64_t timer;
} slot;

/** One gate. */
typedef struct timers {
    const connector_host *host;
    const connector_clock *clock;
    const connector_events *events;
    slot slots[8];
    /** The call that `wait` completes. */
    uint64_t operation;
} timers;

static void fire(void *user) {
    const slot *self = user;
    const connector_events *events = self->owner->events;
    char json[32];
    const int count = snprintf(json, sizeof json, "%d", (int)self->number);
    events->emit(events->context, "fired", 5, json, (uint64_t)count);
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    static const char refuses[] = "\"refuses\":true";
    timers *self = calloc(1, sizeof(timers));
    if (self == NULL) return CONNECTOR_FAILED;
    self->host = host;
    self->clock = host->service(host->context, "clock/1", 7);
    self->events = host->service(host->context, "events/1", 8);
    for (int64_t number = 0; number < 8; number++) {
        self->slots[number].owner = self;
        self->slots[number].number = number;
    }
    for (uint64_t start = 0; start + sizeof refuses - 1 <= length; start++) {
        if (memcmp(config + start, refuses, sizeof refuses - 1) != 0) continue;
        /* The host does not fire it once create has failed. */
        self->clock->start_timer(self->clock->context, 1000000000000u, fire, &self->slots[0], &self->slots[0].timer);
        free(self);
        return fixture_fail(error, CONNECTOR_INVALID, "the configuration says so");
    }
    *instance = self;
    return CONNECTOR_OK;
}

static int32_t open_now(void *instance, const connector_call *call, connector_error *error) {
    const timers *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)FIXTURE_EVIDENCE,
                         sizeof(FIXTURE_EVIDENCE) - 1, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t timers_now(void *instance, int64_t *result, connector_error *error) {
    const timers *self = instance;
    (void)error;
    *result = (int64_t)self->clock->monotonic_ns(self->clock->context);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t timers_day(void *instance, int64_t *result, connector_error *error) {
    const timers *self = instance;
    (void)error;
    *result = (int64_t)self->clock->wall_ns(self->clock->context);
    return CONNECTOR_OK;
}

/* Answers how many nanoseconds are left until the deadline of this call. */
CONNECTOR_EXPORT int32_t timers_left(void *instance, const connector_call *call, connector_error *error) {
    const timers *self = instance;
    char json[32];
    const uint64_t now = self->clock->monotonic_ns(self->clock->context);
    const int count = snprintf(json, sizeof json, "%lld", (long long)(call->deadline_ns - now));
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)json, (uint64_t)count, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t timers_start(void *instance, int64_t number, int64_t delay, int64_t *result,
                                      connector_error *error) {
    timers *self = instance;
    slot *slot = &self->slots[number & 7];
    (void)error;
    *result = self->clock->start_timer(self->clock->context, (uint64_t)delay, fire, slot, &slot->timer);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t timers_cancel(void *instance, int64_t number, int64_t *result, connector_error *error) {
    const timers *self = instance;
    (void)error;
    *result = self->clock->cancel_timer(self->clock->context, self->slots[number & 7].timer);
    return CONNECTOR_OK;
}

static void complete(void *user) {
    const timers *self = user;
    self->host->complete(self->host->context, self->operation, CONNECTOR_OK, (const uint8_t *)"true", 4, NULL);
}

/* Completes by a timer; for one call at a time. */
CONNECTOR_EXPORT int32_t timers_wait(void *instance, const connector_call *call, int64_t delay, connector_error *error) {
    timers *self = instance;
    uint64_t timer;
    (void)error;
    self->operation = call->operation;
    return self->clock->start_timer(self->clock->context, (uint64_t)delay, complete, self, &timer);
}

CONNECTOR_EXPORT int32_t timers_crash(void *instance, connector_error *error) {
    (void)instance, (void)error;
    abort();
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *timers_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_now,
                                            open_now, NULL, destroy, NULL};
    return &plugin;
}
