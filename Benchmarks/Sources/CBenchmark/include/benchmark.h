/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * benchmark.h: calls of a plugin's operations as C makes them, to measure the host's calls beside.
 */
#ifndef CONNECTOR_BENCHMARK_H
#define CONNECTOR_BENCHMARK_H

#include <connector/connector.h>

CONNECTOR_BEGIN_DECLS

/** Nanoseconds that `count` calls of `function` take through a function pointer. */
uint64_t benchmark_add_direct(const void *CONNECTOR_NONNULL function, uint64_t count);

CONNECTOR_END_DECLS

#endif
