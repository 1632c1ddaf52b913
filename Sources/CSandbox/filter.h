/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * filter.h: the filter of this process.
 */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <sandbox.h>

/** Installs a filter on every thread of this process. Returns 0 or an errno: ENOTSUP if there is no table for this architecture. */
int sandbox_filter_install(const sandbox_settings *settings, int is_narrow);

/**
 * Installs a filter that asks instead of refusing, on the calling thread and those it creates. Returns the listener to answer
 * by, or -errno.
 */
int sandbox_filter_ask(const sandbox_settings *settings);

#endif
