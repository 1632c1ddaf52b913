/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * null-evidence: completes open, and says nothing about what it proved.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "null-evidence",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Opens without evidence."
});

static int32_t open_silently(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_silently)
