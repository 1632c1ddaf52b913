/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * invalid-manifest: its manifest is JSON, but breaks the rules.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "Invalid Manifest",
    "version": "one",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "capabilites": {}
});

FIXTURE_PLUGIN(fixture_open)
