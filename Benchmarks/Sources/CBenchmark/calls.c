/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "benchmark.h"
#include <time.h>

typedef int32_t (*add_function)(void *, int64_t, int64_t, int64_t *, connector_error *);

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t benchmark_add_direct(const void *function, uint64_t count) {
    add_function volatile add = (add_function)function;
    connector_error error;
    error.struct_size = sizeof error;
    int64_t sum = 0;
    const uint64_t start = now();
    for (uint64_t i = 0; i < count; i++) {
        if (add(NULL, sum, (int64_t)i, &sum, &error) != CONNECTOR_OK) return 0;
    }
    return now() - start;
}
