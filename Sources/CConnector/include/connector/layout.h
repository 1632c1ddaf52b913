/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * layout.h: the layout of every struct of the ABI on 64-bit platforms, as one table. Including it asserts the layout,
 * in C99, C11 and C++17, with the compiler and flags that a plugin is built with. `make layout` writes the assertions
 * for Rust and Swift from it. A field may be added at the end of a struct, which makes its size grow; an offset never
 * changes.
 */
#ifndef CONNECTOR_LAYOUT_H
#define CONNECTOR_LAYOUT_H

#include "connector.h"

/** SIZE(struct, bytes) and OFFSET(struct, field, bytes), for each struct and each field. */
#define CONNECTOR_LAYOUT(SIZE, OFFSET)                                                                                 \
    SIZE(connector_error, 1024)                                                                                        \
    OFFSET(connector_error, struct_size, 0)                                                                            \
    OFFSET(connector_error, code, 4)                                                                                   \
    OFFSET(connector_error, retryable, 8)                                                                              \
    OFFSET(connector_error, detail, 12)                                                                                \
    OFFSET(connector_error, retry_after_ns, 16)                                                                        \
    OFFSET(connector_error, domain, 24)                                                                                \
    OFFSET(connector_error, message, 56)                                                                               \
    SIZE(connector_call, 24)                                                                                           \
    OFFSET(connector_call, struct_size, 0)                                                                             \
    OFFSET(connector_call, flags, 4)                                                                                   \
    OFFSET(connector_call, operation, 8)                                                                               \
    OFFSET(connector_call, deadline_ns, 16)                                                                            \
    SIZE(connector_bytes_owned, 40)                                                                                    \
    OFFSET(connector_bytes_owned, struct_size, 0)                                                                      \
    OFFSET(connector_bytes_owned, flags, 4)                                                                            \
    OFFSET(connector_bytes_owned, data, 8)                                                                             \
    OFFSET(connector_bytes_owned, length, 16)                                                                          \
    OFFSET(connector_bytes_owned, context, 24)                                                                         \
    OFFSET(connector_bytes_owned, release, 32)                                                                         \
    SIZE(connector_host, 40)                                                                                           \
    OFFSET(connector_host, struct_size, 0)                                                                             \
    OFFSET(connector_host, abi_version, 4)                                                                             \
    OFFSET(connector_host, context, 8)                                                                                 \
    OFFSET(connector_host, service, 16)                                                                                \
    OFFSET(connector_host, complete, 24)                                                                               \
    OFFSET(connector_host, progress, 32)                                                                               \
    SIZE(connector_plugin, 56)                                                                                         \
    OFFSET(connector_plugin, struct_size, 0)                                                                           \
    OFFSET(connector_plugin, abi_version, 4)                                                                           \
    OFFSET(connector_plugin, create, 8)                                                                                \
    OFFSET(connector_plugin, open, 16)                                                                                 \
    OFFSET(connector_plugin, probe, 24)                                                                                \
    OFFSET(connector_plugin, close, 32)                                                                                \
    OFFSET(connector_plugin, destroy, 40)                                                                              \
    OFFSET(connector_plugin, cancel, 48)                                                                               \
    SIZE(connector_log, 24)                                                                                            \
    OFFSET(connector_log, struct_size, 0)                                                                              \
    OFFSET(connector_log, level, 4)                                                                                    \
    OFFSET(connector_log, context, 8)                                                                                  \
    OFFSET(connector_log, log, 16)                                                                                     \
    SIZE(connector_clock, 48)                                                                                          \
    OFFSET(connector_clock, struct_size, 0)                                                                            \
    OFFSET(connector_clock, flags, 4)                                                                                  \
    OFFSET(connector_clock, context, 8)                                                                                \
    OFFSET(connector_clock, wall_ns, 16)                                                                               \
    OFFSET(connector_clock, monotonic_ns, 24)                                                                          \
    OFFSET(connector_clock, start_timer, 32)                                                                           \
    OFFSET(connector_clock, cancel_timer, 40)                                                                          \
    SIZE(connector_http_header, 32)                                                                                    \
    OFFSET(connector_http_header, name, 0)                                                                             \
    OFFSET(connector_http_header, name_length, 8)                                                                      \
    OFFSET(connector_http_header, value, 16)                                                                           \
    OFFSET(connector_http_header, value_length, 24)                                                                    \
    SIZE(connector_http_request, 88)                                                                                   \
    OFFSET(connector_http_request, struct_size, 0)                                                                     \
    OFFSET(connector_http_request, flags, 4)                                                                           \
    OFFSET(connector_http_request, method, 8)                                                                          \
    OFFSET(connector_http_request, method_length, 16)                                                                  \
    OFFSET(connector_http_request, url, 24)                                                                            \
    OFFSET(connector_http_request, url_length, 32)                                                                     \
    OFFSET(connector_http_request, headers, 40)                                                                        \
    OFFSET(connector_http_request, header_count, 48)                                                                   \
    OFFSET(connector_http_request, body, 56)                                                                           \
    OFFSET(connector_http_request, body_length, 64)                                                                    \
    OFFSET(connector_http_request, deadline_ns, 72)                                                                    \
    OFFSET(connector_http_request, during, 80)                                                                         \
    SIZE(connector_http_response, 40)                                                                                  \
    OFFSET(connector_http_response, struct_size, 0)                                                                    \
    OFFSET(connector_http_response, status, 4)                                                                         \
    OFFSET(connector_http_response, headers, 8)                                                                        \
    OFFSET(connector_http_response, header_count, 16)                                                                  \
    OFFSET(connector_http_response, body, 24)                                                                          \
    OFFSET(connector_http_response, body_length, 32)                                                                   \
    SIZE(connector_http, 56)                                                                                           \
    OFFSET(connector_http, struct_size, 0)                                                                             \
    OFFSET(connector_http, flags, 4)                                                                                   \
    OFFSET(connector_http, context, 8)                                                                                 \
    OFFSET(connector_http, request, 16)                                                                                \
    OFFSET(connector_http, cancel, 24)                                                                                 \
    OFFSET(connector_http, stream, 32)                                                                                 \
    OFFSET(connector_http, resume, 40)                                                                                 \
    OFFSET(connector_http, write, 48)                                                                                  \
    SIZE(connector_http_receiver, 48)                                                                                  \
    OFFSET(connector_http_receiver, struct_size, 0)                                                                    \
    OFFSET(connector_http_receiver, flags, 4)                                                                          \
    OFFSET(connector_http_receiver, part, 8)                                                                           \
    OFFSET(connector_http_receiver, done, 16)                                                                          \
    OFFSET(connector_http_receiver, user, 24)                                                                          \
    OFFSET(connector_http_receiver, silence_ns, 32)                                                                    \
    OFFSET(connector_http_receiver, room, 40)                                                                          \
    SIZE(connector_gates_call, 72)                                                                                     \
    OFFSET(connector_gates_call, struct_size, 0)                                                                       \
    OFFSET(connector_gates_call, flags, 4)                                                                             \
    OFFSET(connector_gates_call, use, 8)                                                                               \
    OFFSET(connector_gates_call, use_length, 16)                                                                       \
    OFFSET(connector_gates_call, operation, 24)                                                                        \
    OFFSET(connector_gates_call, operation_length, 32)                                                                 \
    OFFSET(connector_gates_call, arguments, 40)                                                                        \
    OFFSET(connector_gates_call, arguments_length, 48)                                                                 \
    OFFSET(connector_gates_call, deadline_ns, 56)                                                                      \
    OFFSET(connector_gates_call, during, 64)                                                                           \
    SIZE(connector_gates, 40)                                                                                          \
    OFFSET(connector_gates, struct_size, 0)                                                                            \
    OFFSET(connector_gates, flags, 4)                                                                                  \
    OFFSET(connector_gates, context, 8)                                                                                \
    OFFSET(connector_gates, call, 16)                                                                                  \
    OFFSET(connector_gates, cancel, 24)                                                                                \
    OFFSET(connector_gates, bound, 32)                                                                                 \
    SIZE(connector_events, 24)                                                                                         \
    OFFSET(connector_events, struct_size, 0)                                                                           \
    OFFSET(connector_events, flags, 4)                                                                                 \
    OFFSET(connector_events, context, 8)                                                                               \
    OFFSET(connector_events, emit, 16)                                                                                 \
    SIZE(connector_storage, 56)                                                                                        \
    OFFSET(connector_storage, struct_size, 0)                                                                          \
    OFFSET(connector_storage, flags, 4)                                                                                \
    OFFSET(connector_storage, context, 8)                                                                              \
    OFFSET(connector_storage, get, 16)                                                                                 \
    OFFSET(connector_storage, set, 24)                                                                                 \
    OFFSET(connector_storage, remove, 32)                                                                              \
    OFFSET(connector_storage, list, 40)                                                                                \
    OFFSET(connector_storage, replace, 48)

/* C99 has no assertion: an array of -1 elements does not compile, either. */
#if defined(__cplusplus)
#define CONNECTOR_LAYOUT_SIZE(type, size) static_assert(sizeof(type) == (size), "the size of " #type);
#define CONNECTOR_LAYOUT_OFFSET(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field);
#else
#define CONNECTOR_LAYOUT_SIZE(type, size) typedef char size_of_##type[sizeof(type) == (size) ? 1 : -1];
#define CONNECTOR_LAYOUT_OFFSET(type, field, offset)                                                                   \
    typedef char offset_of_##type##_##field[offsetof(type, field) == (offset) ? 1 : -1];
#endif

#if UINTPTR_MAX == UINT64_MAX
CONNECTOR_LAYOUT(CONNECTOR_LAYOUT_SIZE, CONNECTOR_LAYOUT_OFFSET)
#endif

#endif
