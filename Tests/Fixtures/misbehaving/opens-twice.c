/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * opens-twice: completes one call twice.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "opens-twice",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Completes twice."
});

static int32_t open_twice(void *instance, const connector_call *call, connector_error *error) {
    (void)error;
    fixture_succeed(instance, call->operation);
    fixture_succeed(instance, call->operation);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_twice)
