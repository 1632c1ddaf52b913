/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * unknown-operation: completes an operation that the host never issued, then its own.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "unknown-operation",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Completes what nobody asked for."
});

static int32_t open_unknown(void *instance, const connector_call *call, connector_error *error) {
    if (fixture_succeed(instance, call->operation + 0x123456789u) == CONNECTOR_OK)
        return fixture_fail(error, CONNECTOR_FAILED, "the host took an unknown completion");
    fixture_succeed(instance, call->operation);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_unknown)
