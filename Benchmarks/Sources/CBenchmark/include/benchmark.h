/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * benchmark.h: calls of a plugin's operations as C makes them, to compare the host's calls with.
 *
 * Each function makes `count` calls, and answers how many nanoseconds they took; 0 if one of them failed.
 */
#ifndef CONNECTOR_BENCHMARK_H
#define CONNECTOR_BENCHMARK_H

#include <connector/connector.h>
#include <stdbool.h>

CONNECTOR_BEGIN_DECLS

/** Calls `quick_add` through a function pointer. */
uint64_t benchmark_add(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Calls `quick_add` through an interface that libffi prepared once. */
uint64_t benchmark_add_ffi(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Calls `quick_invert` with a kibibyte through a function pointer. */
uint64_t benchmark_invert(const void *CONNECTOR_NONNULL function, uint64_t count);

/** Returns freed memory to the system, where the C library can. */
void benchmark_release_memory(void);

/**
 * Begins to count what one call passes through.
 *
 * Returns false in a program that was compiled without `-profile-generate`, which counts no functions. `file` gets the profile.
 */
bool benchmark_path_begin(const char *CONNECTOR_NONNULL file);

/** Ends the count, from any thread; a second call, or one before the beginning, does nothing. */
void benchmark_path_end(void);

/**
 * Waits for the end of the count.
 *
 * `wakes` gets how often a thread of the process was scheduled in (0 where the system does not tell), `copies` how many large blocks of
 * memory were copied (0 without libcount.so).
 */
void benchmark_path_wait(uint64_t *CONNECTOR_NONNULL wakes, uint64_t *CONNECTOR_NONNULL copies);

/**
 * Starts a vendor on a thread of this process, which accepts everything and ends the count with the first byte it receives.
 *
 * Returns its port on the loopback interface, or 0 on error.
 */
uint16_t benchmark_vendor(void);

CONNECTOR_END_DECLS

#endif
