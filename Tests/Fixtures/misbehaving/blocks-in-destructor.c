/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * blocks-in-destructor: its destructor never returns.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "blocks-in-destructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Blocks in its destructor."
});

__attribute__((destructor)) static void block(void) {
    for (;;) pause();
}

FIXTURE_PLUGIN(fixture_open)
