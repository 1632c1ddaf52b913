/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * prints: writes to standard output, which belongs to the application.
 */
#include "../fixture.h"
#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "prints",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Writes to standard output."
});

static int32_t open_loudly(void *instance, const connector_call *call, connector_error *error) {
    printf("hello from a plugin\n");
    return fixture_open(instance, call, error);
}

FIXTURE_PLUGIN(open_loudly)
