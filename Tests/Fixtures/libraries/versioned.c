/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * versioned: a library with versions of its symbols; FIRST_ONLY leaves the second one out.
 */
__attribute__((visibility("default"))) int versioned_first(void) { return 1; }

#ifndef FIRST_ONLY
__attribute__((visibility("default"))) int versioned_second(void) { return 2; }
#endif
