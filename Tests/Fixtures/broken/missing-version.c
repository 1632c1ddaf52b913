/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * missing-version: needs a version of a library's symbols that the one here lacks.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "missing-version",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Needs a newer library."
});

int versioned_second(void);

CONNECTOR_EXPORT int fixture_versioned(void) { return versioned_second(); }

FIXTURE_PLUGIN(fixture_open)
