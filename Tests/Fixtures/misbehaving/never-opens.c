/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * never-opens: takes the call on and never completes it.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "never-opens",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Never completes."
});

static int32_t open_never(void *instance, const connector_call *call, connector_error *error) {
    (void)instance;
    (void)call;
    (void)error;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_never)
