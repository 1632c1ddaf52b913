/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * null-table: its entry function returns null.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "null-table",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Returns no table."
});

CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) { return NULL; }
