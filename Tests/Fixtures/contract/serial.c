/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * serial: see calls.h; one of its operations at a time.
 */
#include "calls.h"

CALLS_MANIFEST("serial", "serial");
