/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sibling: needs a library of its own, found relative to the plugin's file.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "sibling",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Brings a library.",
    "capabilities": {"sibling/1": {"answer": {"symbol": "sibling_answer", "signature": "() -> i32"}}}
});

int32_t sibling_library_answer(void);

CONNECTOR_EXPORT int32_t sibling_answer(void *instance, int32_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = sibling_library_answer();
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
