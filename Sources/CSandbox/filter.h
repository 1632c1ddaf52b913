/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * filter.h: the filter of this process.
 */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <sandbox.h>

/** Puts a filter on every thread of this process. Returns 0, an errno, or -1 if there is none for this architecture. */
int sandbox_filter_install(const sandbox_settings *settings, int is_narrow);

#endif
