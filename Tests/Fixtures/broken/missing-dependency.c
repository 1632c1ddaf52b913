/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * missing-dependency: needs a library that needs another one that is gone.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "missing-dependency",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Needs what needs what is gone."
});

int middle(void);

CONNECTOR_EXPORT int fixture_middle(void) { return middle(); }

FIXTURE_PLUGIN(fixture_open)
