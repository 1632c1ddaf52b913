/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * deliveries: a vendor of events and crash reports that keeps what arrives, is away as often as its field "away" says, asks for as many
 * seconds meanwhile as its field "pause" says, and refuses for good whatever contains the text "refuse".
 */
#include "../fixture.h"

#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "deliveries",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "deliveries_entry",
    "documentation": "Keeps what arrives.",
    "thread": "serial",
    "configuration": {
        "away": {"type": "integer", "documentation": "How many deliveries fail before one succeeds."},
        "pause": {"type": "integer", "documentation": "How many seconds to wait after one that failed; 2 if absent."}
    },
    "capabilities": {
        "analytics/1": {
            "track": {"symbol": "deliveries_take", "signature": "(event: json) async"},
            "deliver": {"symbol": "deliveries_deliver", "signature": "(events: json) async -> json"}
        },
        "crash/1": {"exception": {"symbol": "deliveries_take_report", "signature": "(report: json) async -> json"}},
        "deliveries/1": {
            "last": {"symbol": "deliveries_last", "signature": "() -> string"},
            "taken": {"symbol": "deliveries_taken", "signature": "() -> string"}
        },
        "orders/1": {
            "place": {"symbol": "deliveries_take", "signature": "(order: json) async", "delivered": true},
            "ship": {"symbol": "deliveries_ship", "signature": "(id: string, count: i32) async", "delivered": true},
            "cancel": {"symbol": "deliveries_take", "signature": "(order: json) async"}
        },
        "readings/1": {
            "report": {"symbol": "deliveries_take", "signature": "(reading: json) async", "delivered": true},
            "deliver": {"symbol": "deliveries_deliver", "signature": "(readings: json) async -> json"}
        }
    }
});

/** One gate. */
typedef struct deliveries {
    const connector_host *host;
    /** How many deliveries will be refused. */
    long away;
    /** The wait that it asks for meanwhile, in seconds; 0 for none. */
    long pause;
    /** What arrived last, whether it was taken or not. */
    char last[8192];
    uint64_t last_length;
    /** What was taken since somebody last asked, a line each. */
    char taken[65536];
    uint64_t taken_length;
} deliveries;

/** The number of a field, or what it is if the field is absent. */
static long number(const char *config, const char *key, long absent) {
    const char *found = strstr(config, key);
    return found == NULL ? absent : strtol(found + strlen(key), NULL, 10);
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    deliveries *self = calloc(1, sizeof(deliveries));
    fixture *base;
    int32_t status = fixture_create(host, config, length, (void **)&base, error);
    if (status != CONNECTOR_OK || self == NULL) {
        free(self);
        return CONNECTOR_FAILED;
    }
    self->host = host;
    self->away = number(base->config, "\"away\":", 0);
    self->pause = number(base->config, "\"pause\":", 2);
    fixture_destroy(base);
    *instance = self;
    return CONNECTOR_OK;
}

static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    const deliveries *self = instance;
    (void)error;
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)FIXTURE_EVIDENCE,
                                sizeof(FIXTURE_EVIDENCE) - 1, NULL);
}

static int32_t take(deliveries *self, const connector_call *call, const char *json, uint64_t length, const char *answer,
                    connector_error *error) {
    if (length < sizeof(self->last)) {
        memcpy(self->last, json, length);
        self->last[length] = 0;
        self->last_length = length;
    }
    if (strstr(self->last, "\"refuse\"") != NULL)
        return fixture_fail(error, CONNECTOR_INVALID, "the vendor refuses it");
    if (self->away > 0) {
        self->away--;
        error->retryable = 1;
        error->retry_after_ns = (uint64_t)self->pause * 1000000000;
        return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor is away");
    }
    if (length < sizeof(self->taken) - self->taken_length) {
        memcpy(self->taken + self->taken_length, json, length);
        self->taken_length += length;
        self->taken[self->taken_length++] = '\n';
    }
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)answer,
                                strlen(answer), NULL);
}

CONNECTOR_EXPORT int32_t deliveries_take(void *instance, const connector_call *call, const char *json, uint64_t length,
                                         connector_error *error) {
    return take(instance, call, json, length, "", error);
}

CONNECTOR_EXPORT int32_t deliveries_take_report(void *instance, const connector_call *call, const char *json,
                                                uint64_t length, connector_error *error) {
    return take(instance, call, json, length, "{\"outcome\":\"accepted\"}", error);
}

/** An event whose arguments are several. */
CONNECTOR_EXPORT int32_t deliveries_ship(void *instance, const connector_call *call, const char *id, uint64_t id_length,
                                         int32_t count, connector_error *error) {
    char text[256];
    int length = snprintf(text, sizeof text, "%.*s times %d", (int)id_length, id, (int)count);
    return take(instance, call, text, (uint64_t)length, "", error);
}

/** Answers for a batch of one event. */
CONNECTOR_EXPORT int32_t deliveries_deliver(void *instance, const connector_call *call, const char *json,
                                            uint64_t length, connector_error *error) {
    deliveries *self = instance;
    char later[128];
    if (self->away == 0) return take(self, call, json, length, "[{\"outcome\":\"accepted\"}]", error);
    self->away--;
    snprintf(later, sizeof later,
             "[{\"outcome\":\"retry\",\"code\":\"unavailable\",\"reason\":\"the vendor is away\",\"retryAfter\":%ld}]",
             self->pause);
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)later,
                                strlen(later), NULL);
}

static int32_t answer(const char *text, uint64_t length, connector_bytes_owned *result) {
    uint8_t *copy = malloc(length + 1);
    if (copy == NULL) return CONNECTOR_FAILED;
    memcpy(copy, text, length);
    result->data = copy;
    result->length = length;
    result->context = copy;
    result->release = free;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t deliveries_last(void *instance, connector_bytes_owned *result, connector_error *error) {
    const deliveries *self = instance;
    (void)error;
    return answer(self->last, self->last_length, result);
}

/** What was taken since the last time, a line for each delivery. */
CONNECTOR_EXPORT int32_t deliveries_taken(void *instance, connector_bytes_owned *result, connector_error *error) {
    deliveries *self = instance;
    uint64_t length = self->taken_length;
    (void)error;
    self->taken_length = 0;
    return answer(self->taken, length, result);
}

CONNECTOR_EXPORT const connector_plugin *deliveries_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate,
                                            open_gate, NULL, free, NULL};
    return &plugin;
}
