/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * operation.h: how the host calls operations, and how they complete.
 *
 * An operation is an exported function named in the manifest. Its C prototype follows from its signature.
 *
 *   synchronous:   int32_t f(void *instance, PARAMETERS, RESULTS, connector_error *error)
 *   asynchronous:  int32_t f(void *instance, const connector_call *call, PARAMETERS, connector_error *error)
 *
 *   in the signature        in C
 *   i8 … i64, u8 … u64      int8_t … int64_t, uint8_t … uint64_t
 *   f32, f64                float, double
 *   handle                  void *
 *   string, json            const char *, uint64_t length in bytes (borrowed)
 *   bytes                   const uint8_t *, uint64_t length (borrowed)
 *   T?                      a null pointer means no value; an optional scalar is passed by pointer to const
 *   x: out SCALAR           a pointer to the scalar, written by the callee
 *   x: out bytes            uint8_t *buffer, uint64_t capacity, uint64_t *length: the caller's buffer; the callee
 *                           always sets *length to the length it needs, and returns CONNECTOR_TOO_LARGE if that
 *                           exceeds the capacity (also x: out string, x: out json, with char *). The host lends
 *                           64 KiB and does not call again with more: return what may be longer with -> bytes
 *   -> SCALAR               a pointer to the scalar, as an out parameter at the end
 *   -> string, bytes, json  connector_bytes_owned *, filled in by the callee (synchronous)
 *   -> (a: T, b: U)         several results with names, in order, each as above; synchronous only
 *
 * An asynchronous operation returns nothing, or one string, bytes or json. It returns no scalar, no handle and only
 * one result, and has no out parameters; put several values into json. An operation that declares json completes with
 * JSON text, such as `null`. Completing it without a result is misbehaviour, and so is a result that the host does not
 * accept as JSON: text that is not UTF-8, duplicate names in an object, escapes of half a surrogate pair, numbers
 * beyond a double, and more than 144 levels of nesting: 128 of a value, which is also the most of a json argument that is
 * no batch, and 16 of what is put around it. Do not pass on unchecked what a vendor sent.
 *
 * Two types exist for libraries that were not written for connectors, and that a sidecar describes (see manifest.h):
 * `cstring`, a const char * that ends with NUL, and `bytes32`, which is bytes with a uint32_t length. Such functions
 * take neither instance, call nor error.
 *
 * An asynchronous operation returns CONNECTOR_OK once it has accepted the call, and then completes the call exactly once
 * through connector_host.complete, from any thread, even before it returns. If it returns any other status, the call is
 * over and must not be completed.
 *
 * No operation blocks the calling thread. The host makes calls by name on threads that it can afford to lose, and
 * times them out at their deadlines; a function that is still running then is misbehaviour. Typed calls have no such
 * protection. An operation whose manifest says `"prompt": true` has none either, and must return within microseconds:
 * calls by name run it on the caller's thread, of an instance fewer at a time than there are processors, but one at least;
 * the rest run on the host's threads.
 * A call that takes over a millisecond is misbehaviour, and later calls run on other threads until enough of them in a
 * row have taken less. A call that never returns keeps its caller's thread. Calls by the command line and by the API,
 * by plugins that use the gate, and deliveries run on the host's threads, and keep their timeouts.
 */
#ifndef CONNECTOR_OPERATION_H
#define CONNECTOR_OPERATION_H

#include "error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/** No deadline: see connector_call.deadline_ns. */
#define CONNECTOR_NO_DEADLINE UINT64_MAX

/** One asynchronous call, borrowed for the duration of the function that receives it. */
typedef struct connector_call {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Identifies the call in `complete` and `progress`. Unique for the life of the process. */
    uint64_t operation;
    /** When the host times the call out, in monotonic nanoseconds of clock/1; CONNECTOR_NO_DEADLINE if never. */
    uint64_t deadline_ns;
} connector_call;

/**
 * A result that the callee allocated and the caller releases. The caller sets `struct_size` and clears the rest; the callee
 * fills it in. If the callee returns a status other than CONNECTOR_OK, the caller ignores whatever is in it: the callee
 * frees what it has allocated.
 */
typedef struct connector_bytes_owned {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** The bytes; null only if `length` is 0. */
    const uint8_t *CONNECTOR_NULLABLE data;
    uint64_t length;
    /** Passed to `release`. */
    void *CONNECTOR_NULLABLE context;
    /** Frees the bytes; null if there is nothing to free. Called once, [any]. */
    void (*CONNECTOR_NULLABLE release)(void *CONNECTOR_NULLABLE context);
} connector_bytes_owned;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
