/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * blocks-in-constructor: its constructor never returns.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "blocks-in-constructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Blocks in its constructor."
});

__attribute__((constructor)) static void block(void) {
    for (;;) pause();
}

FIXTURE_PLUGIN(fixture_open)
