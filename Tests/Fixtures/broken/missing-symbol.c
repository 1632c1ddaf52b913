/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * missing-symbol: calls a function that nobody defines.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "missing-symbol",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Calls what is not there."
});

int defined_nowhere(void);

CONNECTOR_EXPORT int fixture_missing(void) { return defined_nowhere(); }

FIXTURE_PLUGIN(fixture_open)
