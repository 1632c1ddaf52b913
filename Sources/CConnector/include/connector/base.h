/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * base.h: the version, linkage and nullability that every other header of the ABI needs.
 *
 * Rules of the whole ABI:
 *
 *  - Only fixed-width integers, floats and pointers cross the ABI, and structs only behind a pointer.
 *  - Every struct starts with `struct_size`, set by the side that allocates it, and grows only at its end. The other side
 *    uses a field only if `struct_size` covers it: CONNECTOR_HAS_FIELD. Only connector_http_header has none, since it
 *    stands in arrays, and never grows.
 *  - Every function returns an int32_t status of error.h, unless it cannot fail. Results go out through pointers.
 *  - Text is UTF-8 with a length in bytes, never NUL-terminated, and may contain NUL.
 *  - `_borrowed` memory is valid until the call returns, `_static` until the process ends, `_owned` until its new
 *    owner calls the release function that came with it. Neither side frees the other's memory directly.
 *  - Times are unsigned nanoseconds.
 *
 * Thread classes, stated at every function:
 *
 *  [any]       from any thread, even from several at once
 *  [lifecycle] one call at a time for each instance, on any thread of the host
 *  [gate]      [any] if the manifest says `"thread": "any"`; one call at a time for each instance if it says "serial"
 */
#ifndef CONNECTOR_BASE_H
#define CONNECTOR_BASE_H

#include <stddef.h>
#include <stdint.h>

/** The version of the ABI that these headers describe. */
#define CONNECTOR_ABI_VERSION 1u

#ifdef __cplusplus
#define CONNECTOR_BEGIN_DECLS extern "C" {
#define CONNECTOR_END_DECLS }
#else
#define CONNECTOR_BEGIN_DECLS
#define CONNECTOR_END_DECLS
#endif

/** Makes a function of a plugin visible to the host, even under -fvisibility=hidden. */
#ifdef __cplusplus
#define CONNECTOR_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define CONNECTOR_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define CONNECTOR_NONNULL _Nonnull
#define CONNECTOR_NULLABLE _Nullable
#else
#define CONNECTOR_NONNULL
#define CONNECTOR_NULLABLE
#endif

/** Whether the side that filled in the struct at `pointer` knew of `field`. */
#define CONNECTOR_HAS_FIELD(type, field, pointer)                                                                      \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#ifdef __clang__
#pragma clang diagnostic pop
#endif

#endif
