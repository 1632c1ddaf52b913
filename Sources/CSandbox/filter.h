/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * filter.h: the filter of this process.
 */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <sandbox.h>

#include <linux/seccomp.h>

/** What a filter asks, and the answer, with room for the fields of newer kernels: the kernel reads and writes its own size. */
typedef union sandbox_notice {
    struct seccomp_notif asked;
    struct seccomp_notif_resp answer;
    char room[512];
} sandbox_notice;

/**
 * Installs a filter on every thread of this process. `asks` says what the broad filter below a narrow one asks about. Returns 0 or an
 * errno: ENOTSUP if there is no table for this architecture.
 */
int sandbox_filter_install(const sandbox_settings *settings, int is_narrow, uint32_t asks);

/**
 * Installs a broad filter that asks instead of refusing, on the calling thread and those it creates. Returns the listener to answer
 * by, or -errno.
 */
int sandbox_filter_ask(const sandbox_settings *settings, uint32_t asks);

/**
 * Installs the broad filter, which asks the parent about what it refuses, and sends the parent the listener to answer by. Call it
 * before this process has a second thread. Returns 0, or an errno: then there may be a filter, but nobody to answer.
 */
int sandbox_filter_report(const sandbox_settings *settings);

#endif
