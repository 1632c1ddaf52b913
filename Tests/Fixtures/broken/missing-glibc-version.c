/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * missing-glibc-version: needs a GLIBC that does not exist yet, once tools/alter.c has changed it.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "missing-glibc-version",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Needs a newer C library."
});

FIXTURE_PLUGIN(fixture_open)
