/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * garbage-manifest: its manifest is not JSON.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({"manifest": 1, "id": );

FIXTURE_PLUGIN(fixture_open)
