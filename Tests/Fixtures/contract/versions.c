/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * versions: offers two versions of a capability, whose operations of one name have different functions and signatures, and a
 * capability after them.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "versions",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Offers two versions of a capability.",
    "capabilities": {
        "number/1": {"read": {"symbol": "versions_read_1", "signature": "() -> i64"}},
        "number/2": {"read": {"symbol": "versions_read_2", "signature": "(add: i64) -> i64"}},
        "tail/1": {
            "last": {"symbol": "versions_last", "signature": "() -> i64"},
            "final": {"symbol": "versions_final", "signature": "(add: i64) -> i64"}
        }
    }
});

CONNECTOR_EXPORT int32_t versions_read_1(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 1;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t versions_read_2(void *instance, int64_t add, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 20 + add;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t versions_last(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 3;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t versions_final(void *instance, int64_t add, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 40 + add;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
