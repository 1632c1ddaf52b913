/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * garbage-evidence: completes with something that is not JSON.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "garbage-evidence",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Completes with garbage."
});

static int32_t open_garbage(void *instance, const connector_call *call, connector_error *error) {
    static const uint8_t garbage[] = {0xFF, 0xFE, '{', 0};
    const fixture *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, garbage, sizeof(garbage), NULL);
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_garbage)
