/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * null-function: its table has no open.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "null-function",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Leaves open out."
});

CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create, NULL,
                                            NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}
