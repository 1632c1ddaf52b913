/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * symbol-absent: names an operation that it does not export.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "symbol-absent",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Names what is not there.",
    "capabilities": {"absent/1": {"go": {"symbol": "absent_go", "signature": "() -> i32"}}}
});

int32_t absent_go(void *instance, int32_t *result, connector_error *error);

__attribute__((visibility("hidden"))) int32_t absent_go(void *instance, int32_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = 1;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
