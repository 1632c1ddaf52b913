/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * says-little: a manifest with everything in it that the host needs, and nothing that its operator would like to know.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "says-little",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "services": {"required": ["http/1", "telepathy/1"]},
    "configuration": {"apiKey": {"type": "string"}},
    "capabilities": {"little/1": {"get": {"symbol": "little_get", "signature": "() -> i32"}}}
});

CONNECTOR_EXPORT int32_t little_get(void *instance, int32_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 1;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
