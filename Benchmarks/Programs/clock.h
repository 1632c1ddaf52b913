/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * clock.h: reads a clock.
 */
#ifndef BENCHMARK_CLOCK_H
#define BENCHMARK_CLOCK_H

#include <stdint.h>
#include <time.h>

/** The time of a clock, in nanoseconds. */
static inline uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
