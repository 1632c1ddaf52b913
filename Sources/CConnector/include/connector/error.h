/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * error.h: the statuses that functions return, and the object that explains a failure.
 */
#ifndef CONNECTOR_ERROR_H
#define CONNECTOR_ERROR_H

#include "base.h"

CONNECTOR_BEGIN_DECLS

/**
 * Every status, once: number, name, meaning. Numbers are never reused; a reader treats an unknown number as
 * CONNECTOR_FAILED.
 *
 * 0 is success, 1 to 99 are failures, 100 to 199 are the host's answers to a misused service or completion.
 */
#define CONNECTOR_STATUSES(X)                                                                                          \
    X(0, OK, "success")                                                                                                \
    X(1, FAILED, "failed, for a reason that no other status names")                                                   \
    X(2, INVALID, "the caller's arguments or configuration are wrong; the same call will fail again")                  \
    X(3, UNSUPPORTED, "the vendor or the plugin cannot do this")                                                       \
    X(4, UNAUTHORIZED, "the vendor refused the credentials")                                                           \
    X(5, NOT_FOUND, "the requested object does not exist")                                                             \
    X(6, CONFLICT, "the object has changed since it was read, or exists already")                                      \
    X(7, RATE_LIMITED, "too many calls; retry_after_ns says when to try again")                                        \
    X(8, UNAVAILABLE, "the vendor could not be reached or says that it is temporarily unavailable")                    \
    X(9, TIMED_OUT, "the deadline passed")                                                                             \
    X(10, CANCELLED, "the caller cancelled the call")                                                                  \
    X(11, DENIED, "the host does not permit this: egress, a service that the manifest does not name")                  \
    X(12, TOO_LARGE, "more bytes than a limit allows")                                                                 \
    X(13, PROTOCOL, "the vendor's answer was not what its protocol says")                                              \
    X(14, NOT_OPEN, "the gate is not open")                                                                            \
    X(100, UNKNOWN_OPERATION, "no such operation is pending: late, already completed, or never issued")                \
    X(101, FOREIGN_OPERATION, "the operation belongs to another gate")                                                 \
    X(102, MISUSE, "an argument breaks the rules of the ABI")

/** The statuses as integer constants; functions return them as int32_t, which is their type in Swift, too. */
#ifdef __swift__
#define CONNECTOR_STATUS_CONSTANT(number, name, meaning) static const int32_t CONNECTOR_##name = number;
CONNECTOR_STATUSES(CONNECTOR_STATUS_CONSTANT)
#else
#define CONNECTOR_STATUS_CONSTANT(number, name, meaning) CONNECTOR_##name = number,
enum { CONNECTOR_STATUSES(CONNECTOR_STATUS_CONSTANT) CONNECTOR_STATUS_END = -1 };
#endif

#undef CONNECTOR_STATUS_CONSTANT

#define CONNECTOR_ERROR_DOMAIN_SIZE 32
#define CONNECTOR_ERROR_MESSAGE_SIZE 968

/**
 * The reason a call failed. The caller owns the object, sets `struct_size`, and passes it in; the callee fills in the
 * rest only when it returns a status other than CONNECTOR_OK. An object passed to `complete` belongs to the plugin: the
 * host reads no byte beyond its `struct_size`, so an object whose size is 0 explains nothing.
 *
 * 1024 bytes. `domain` and `message` are UTF-8 and end at the first NUL or at the end of the array.
 */
typedef struct connector_error {
    uint32_t struct_size;
    /** One of CONNECTOR_STATUSES; equal to the returned status. */
    int32_t code;
    /** 1 if the same call may succeed later, otherwise 0. */
    uint32_t retryable;
    /** The vendor's or system's number (HTTP status, errno); 0 if there is none. */
    int32_t detail;
    /** The wait before the next attempt, in nanoseconds; 0 if unknown. */
    uint64_t retry_after_ns;
    /**
     * The source of the failure: "http", "errno", a vendor's name; "host" if the host refused what the plugin asked of a service. The
     * status of an error from "host" blames no event: a plugin that passes it on leaves it as it is.
     */
    char domain[CONNECTOR_ERROR_DOMAIN_SIZE];
    /** One sentence for a person: what failed and what to do about it. Never a secret. */
    char message[CONNECTOR_ERROR_MESSAGE_SIZE];
} connector_error;

CONNECTOR_END_DECLS

#endif
