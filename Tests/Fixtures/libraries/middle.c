/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * middle: needs the library that is gone.
 */
int gone(void);

__attribute__((visibility("default"))) int middle(void) { return gone(); }
