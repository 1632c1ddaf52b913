/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * blocks-in-life: the function of its life that the configuration names never returns.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "blocks-in-life",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "blocking_entry",
    "documentation": "Blocks.",
    "configuration": {
        "where": {"type": "string", "documentation": "create, open, close or destroy."}
    }
});

/** Blocks if the configuration names the function. */
static void block(const char *config, const char *function) {
    while (strstr(config, function) != NULL) pause();
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    int32_t status = fixture_create(host, config, length, instance, error);
    if (status == CONNECTOR_OK) block(((fixture *)*instance)->config, "create");
    return status;
}

static int32_t open_slowly(void *instance, const connector_call *call, connector_error *error) {
    block(((fixture *)instance)->config, "open");
    return fixture_open(instance, call, error);
}

static int32_t close_slowly(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    block(self->config, "close");
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
}

static void destroy(void *instance) {
    block(((fixture *)instance)->config, "destroy");
    fixture_destroy(instance);
}

CONNECTOR_EXPORT const connector_plugin *blocking_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_slowly,
                                            NULL, close_slowly, destroy, NULL};
    return &plugin;
}
