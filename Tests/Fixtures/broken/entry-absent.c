/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * entry-absent: does not export the entry function that it names.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "entry-absent",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Has no entry."
});

CONNECTOR_EXPORT int32_t another_entry(void);

CONNECTOR_EXPORT int32_t another_entry(void) { return 1; }
