/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * manifest-mismatch: the manifest in the image and the one beside it say different things.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "manifest-mismatch",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Says two things."
});

FIXTURE_PLUGIN(fixture_open)
