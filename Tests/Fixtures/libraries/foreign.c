/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * foreign: a library that knows nothing of connectors; foreign.connector.json describes it.
 */
#include <stdint.h>

__attribute__((visibility("default"))) int32_t foreign_twice(int32_t value) { return 2 * value; }
