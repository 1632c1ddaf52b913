/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * frozen: a plugin in C as it was compiled against version 1 of the ABI. Never changes, nor do the headers beside it.
 */
#include "connector/connector.h"

#include <stdlib.h>
#include <string.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "frozen-c",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "frozen_entry",
    "language": "c",
    "capabilities": {
        "frozen/1": {"sum": {"symbol": "frozen_sum", "signature": "(a: i32, b: i32) -> i32"}}
    }
});

static int32_t frozen_create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                             void **instance_owned, connector_error *error) {
    const connector_host **self = malloc(sizeof(*self));
    (void)config_borrowed;
    (void)config_length;
    (void)error;
    if (self == NULL) return CONNECTOR_FAILED;
    *self = host;
    *instance_owned = self;
    return CONNECTOR_OK;
}

static int32_t frozen_open(void *instance, const connector_call *call_borrowed, connector_error *error) {
    static const char evidence[] = "[{\"kind\":\"configured\",\"detail\":\"frozen\"}]";
    const connector_host *host = *(const connector_host **)instance;
    (void)error;
    host->complete(host->context, call_borrowed->operation, CONNECTOR_OK, (const uint8_t *)evidence,
                   sizeof(evidence) - 1, NULL);
    return CONNECTOR_OK;
}

static void frozen_destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT int32_t frozen_sum(void *instance, int32_t a, int32_t b, int32_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = (int32_t)((uint32_t)a + (uint32_t)b);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT const connector_plugin *frozen_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, frozen_create, frozen_open,
                                            NULL, NULL, frozen_destroy, NULL};
    return &plugin;
}
