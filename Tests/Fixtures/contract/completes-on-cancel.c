/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * completes-on-cancel: each cancellation completes the call, even one that is over or was never its own.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "completes-on-cancel",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "cancelled_entry",
    "documentation": "Takes every cancellation for its own."
});

static void cancel(void *instance, uint64_t operation) {
    const fixture *self = instance;
    self->host->complete(self->host->context, operation, CONNECTOR_CANCELLED, NULL, 0, NULL);
}

CONNECTOR_EXPORT const connector_plugin *cancelled_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create,
                                            fixture_open, NULL, NULL, fixture_destroy, cancel};
    return &plugin;
}
