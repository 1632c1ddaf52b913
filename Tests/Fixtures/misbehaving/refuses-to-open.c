/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * refuses-to-open: fails within the call; it breaks no rule.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "refuses-to-open",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Fails at once."
});

static int32_t open_refused(void *instance, const connector_call *call, connector_error *error) {
    (void)instance;
    (void)call;
    return fixture_fail(error, CONNECTOR_UNAUTHORIZED, "the key was revoked");
}

FIXTURE_PLUGIN(open_refused)
