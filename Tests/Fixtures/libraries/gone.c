/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * gone: removed again once the others are linked, so that it is missing.
 */
__attribute__((visibility("default"))) int gone(void) { return 1; }
