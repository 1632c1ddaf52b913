/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/clock.h: "clock/1", the time and timers. A host under test may use a manual clock.
 */
#ifndef CONNECTOR_SERVICES_CLOCK_H
#define CONNECTOR_SERVICES_CLOCK_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_CLOCK_SERVICE "clock/1"

/** The table of clock/1. */
typedef struct connector_clock {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /** Nanoseconds since 1970-01-01T00:00:00Z. Can jump. [any] */
    uint64_t (*CONNECTOR_NONNULL wall_ns)(void *CONNECTOR_NONNULL context);

    /** Nanoseconds since a fixed moment before the host started. Never jumps; the clock of deadlines. [any] */
    uint64_t (*CONNECTOR_NONNULL monotonic_ns)(void *CONNECTOR_NONNULL context);

    /**
     * Calls `fire(user)` once, `delay_ns` from now, on a thread of the host; `fire` must not block. `*timer` identifies
     * it to `cancel_timer` and is set before `fire` can run. A timer that is pending when the instance ends never
     * fires: cancel it in `destroy` to learn whether `user` may be freed. Returns CONNECTOR_OK; CONNECTOR_NOT_OPEN once
     * the instance is being destroyed; CONNECTOR_UNAVAILABLE if the system cannot create a thread for timers;
     * CONNECTOR_TOO_LARGE if 65,536 timers of the instance are pending. [any]
     */
    int32_t (*CONNECTOR_NONNULL start_timer)(void *CONNECTOR_NONNULL context, uint64_t delay_ns,
                                             void (*CONNECTOR_NONNULL fire)(void *CONNECTOR_NULLABLE user),
                                             void *CONNECTOR_NULLABLE user, uint64_t *CONNECTOR_NONNULL timer);

    /**
     * Returns CONNECTOR_OK if `fire` has not run and will not; CONNECTOR_UNKNOWN_OPERATION if it has run, is running,
     * was cancelled before, or never existed. [any]
     */
    int32_t (*CONNECTOR_NONNULL cancel_timer)(void *CONNECTOR_NONNULL context, uint64_t timer);
} connector_clock;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
