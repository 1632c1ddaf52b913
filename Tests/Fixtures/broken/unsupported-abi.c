/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * unsupported-abi: made for versions of the ABI that do not exist yet.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "unsupported-abi",
    "version": "1.0.0",
    "abi": [7, 9],
    "entry": "fixture_entry"
});

FIXTURE_PLUGIN(fixture_open)
