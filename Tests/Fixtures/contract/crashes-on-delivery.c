/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * crashes-on-delivery: ends its process when a batch of events arrives. Deliver to it only in a runner.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "crashes-on-delivery",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Ends its process when events arrive.",
    "capabilities": {
        "analytics/1": {
            "deliver": {"symbol": "deliver_and_crash", "signature": "(events: json) async -> json"}
        }
    }
});

CONNECTOR_EXPORT int32_t deliver_and_crash(void *instance, const connector_call *call, const char *json, uint64_t length,
                                           connector_error *error) {
    (void)instance, (void)call, (void)json, (void)length, (void)error;
    abort();
}

FIXTURE_PLUGIN(fixture_open)
