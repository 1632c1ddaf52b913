/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls: see calls.h; its operations may run at once.
 */
#include "calls.h"

CALLS_MANIFEST("calls", "any");
