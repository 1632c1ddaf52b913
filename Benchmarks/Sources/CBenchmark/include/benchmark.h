/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * benchmark.h: calls of a plugin's operations as C makes them, to measure the host's calls beside.
 *
 * Each function makes `count` calls, and answers how many nanoseconds they took; 0 if one of them failed.
 */
#ifndef CONNECTOR_BENCHMARK_H
#define CONNECTOR_BENCHMARK_H

#include <connector/connector.h>

CONNECTOR_BEGIN_DECLS

/** Calls `quick_add` through a function pointer. */
uint64_t benchmark_add(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Calls `quick_add` through an interface that libffi prepared once. */
uint64_t benchmark_add_ffi(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Calls `quick_invert` with a kibibyte through a function pointer. */
uint64_t benchmark_invert(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Gives the system back the memory that was freed, where the C library can. */
void benchmark_release_memory(void);

CONNECTOR_END_DECLS

#endif
