/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * no-manifest: has everything but a manifest.
 */
#include "../fixture.h"

FIXTURE_PLUGIN(fixture_open)
