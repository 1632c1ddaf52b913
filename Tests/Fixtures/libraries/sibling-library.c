/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sibling-library: what the plugin sibling needs.
 */
#include <stdint.h>

__attribute__((visibility("default"))) int32_t sibling_library_answer(void) { return 42; }
