/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * program: a program that carries a manifest.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "program",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Is a program."
});

FIXTURE_PLUGIN(fixture_open)

int main(void) { return 0; }
