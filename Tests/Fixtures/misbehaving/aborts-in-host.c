/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * aborts-in-host: its constructor ends a process that has an environment, which a runner does not have.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "aborts-in-host",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Aborts in its constructor, except in a runner."
});

__attribute__((constructor)) static void crash(void) {
    if (getenv("PATH") != NULL) abort();
}

FIXTURE_PLUGIN(fixture_open)
