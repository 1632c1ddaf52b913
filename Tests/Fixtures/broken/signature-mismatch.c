/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * signature-mismatch: declares an operation differently from its capability.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "signature-mismatch",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Declares geocode otherwise.",
    "capabilities": {"geocoder/1": {"geocode": {"symbol": "mismatch_geocode", "signature": "(query: string) -> f64"}}}
});

CONNECTOR_EXPORT int32_t mismatch_geocode(void *instance, const char *query_borrowed, uint64_t length, double *result,
                                          connector_error *error) {
    (void)instance;
    (void)query_borrowed;
    (void)length;
    (void)error;
    *result = 0;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
