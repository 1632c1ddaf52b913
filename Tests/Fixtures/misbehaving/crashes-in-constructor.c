/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * crashes-in-constructor: the process that loads it dies.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "crashes-in-constructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Dies when it is loaded."
});

__attribute__((constructor)) static void crash(void) { abort(); }

FIXTURE_PLUGIN(fixture_open)
