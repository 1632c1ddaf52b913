/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * waiting: takes 100 ms to open, as a slow vendor would, by a timer of clock/1.
 */
#include <connector/connector.h>
#include <stdlib.h>
#include <string.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "waiting",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "waiting_entry",
    "documentation": "Takes 100 ms to open.",
    "services": {"required": ["clock/1"]}
});

typedef struct waiting {
    const connector_host *host;
    uint64_t operation;
} waiting;

static int32_t waiting_create(const connector_host *host, const char *config, uint64_t length, void **instance,
                              connector_error *error) {
    waiting *self = malloc(sizeof(waiting));
    (void)config;
    (void)length;
    (void)error;
    if (self == NULL) return CONNECTOR_FAILED;
    self->host = host;
    *instance = self;
    return CONNECTOR_OK;
}

static void fire(void *user) {
    static const char evidence[] = "[{\"kind\": \"configured\"}]";
    const waiting *self = user;
    self->host->complete(self->host->context, self->operation, CONNECTOR_OK, (const uint8_t *)evidence,
                         sizeof evidence - 1, NULL);
}

static int32_t waiting_open(void *instance, const connector_call *call, connector_error *error) {
    waiting *self = instance;
    const connector_clock *clock =
        self->host->service(self->host->context, CONNECTOR_CLOCK_SERVICE, strlen(CONNECTOR_CLOCK_SERVICE));
    uint64_t timer;
    (void)error;
    if (clock == NULL) return CONNECTOR_UNSUPPORTED;
    self->operation = call->operation;
    return clock->start_timer(clock->context, 100000000u, fire, self, &timer);
}

CONNECTOR_EXPORT const connector_plugin *waiting_entry(void) {
    static const connector_plugin plugin = {
        sizeof(connector_plugin), CONNECTOR_ABI_VERSION, waiting_create, waiting_open, NULL, NULL, free, NULL};
    return &plugin;
}
