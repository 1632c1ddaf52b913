/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * crashes-in-open: the process that opens it dies.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "crashes-in-open",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Dies when it is opened."
});

static int32_t open_crash(void *instance, const connector_call *call, connector_error *error) {
    (void)instance;
    (void)call;
    (void)error;
    abort();
}

FIXTURE_PLUGIN(open_crash)
