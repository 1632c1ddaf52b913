/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * closes-in-constructor: closes descriptors that are not its own as soon as it is loaded. Load it only in a runner.
 */
#include "../fixture.h"

#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "closes-in-constructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Closes descriptors that are not its own."
});

__attribute__((constructor)) static void close_all(void) {
    for (int descriptor = 3; descriptor < 100; descriptor++) close(descriptor);
}

FIXTURE_PLUGIN(fixture_open)
