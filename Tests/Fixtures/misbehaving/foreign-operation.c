/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * foreign-operation: completes a call that another gate has pending, then its own.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "foreign-operation",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Completes what is not its own."
});

/** The first instance's call, left pending for the second one to complete. */
static uint64_t other;

static int32_t open_foreign(void *instance, const connector_call *call, connector_error *error) {
    int32_t status;
    if (other == 0) {
        other = call->operation;
        return CONNECTOR_OK;
    }
    status = fixture_succeed(instance, other);
    other = 0;
    if (status != CONNECTOR_FOREIGN_OPERATION && status != CONNECTOR_UNKNOWN_OPERATION)
        return fixture_fail(error, CONNECTOR_FAILED, "the host took a foreign completion");
    fixture_succeed(instance, call->operation);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_foreign)
