/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * future: made for a later version of the ABI, too; its table is longer than this host knows.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "future",
    "version": "2.0.0",
    "abi": [1, 7],
    "entry": "fixture_entry",
    "documentation": "Knows more than its host."
});

/** Version 7, as it may be defined one day. */
typedef struct future_plugin {
    connector_plugin version_1;
    int32_t (*hibernate)(void *instance, uint64_t for_ns);
    uint64_t features;
} future_plugin;

static int32_t hibernate(void *instance, uint64_t for_ns) {
    (void)instance;
    (void)for_ns;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
    static const future_plugin plugin = {
        {sizeof(future_plugin), 7u, fixture_create, fixture_open, NULL, NULL, fixture_destroy, NULL}, hibernate, 1u};
    return &plugin.version_1;
}
