/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * short-table: its table ends before the functions that every plugin has.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "short-table",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Returns a table that is too short."
});

CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
    static const connector_plugin plugin = {16, CONNECTOR_ABI_VERSION, fixture_create, fixture_open,
                                            NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}
