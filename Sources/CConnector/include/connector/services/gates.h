/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/gates.h: "gates/1", calls of the gates that the plugin uses.
 *
 * A manifest names what the plugin uses: "uses": { "settings": "settings/1" }. The configuration binds each name to a
 * connector; it may leave out one that is optional: { "capability": "settings/1", "optional": true }. The plugin
 * reaches the operations of that capability and nothing else, and never learns which connector provides them. The
 * service is null if the manifest has no "uses"; "services" does not name it.
 *
 * The used gate has opened, or failed, before the plugin's `open`, and closes after the plugin's `close`.
 */
#ifndef CONNECTOR_SERVICES_GATES_H
#define CONNECTOR_SERVICES_GATES_H

#include "../operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_GATES_SERVICE "gates/1"

/** A call of a used gate, borrowed for the duration of connector_gates.call. */
typedef struct connector_gates_call {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** The name in the manifest's "uses". */
    const char *CONNECTOR_NONNULL use;
    uint64_t use_length;
    /** The operation's name in the capability, such as "get". */
    const char *CONNECTOR_NONNULL operation;
    uint64_t operation_length;
    /**
     * JSON: an object of arguments by name, or an array of them in order; null for none. `bytes` are {"base64": "…"}, or a
     * string, which means its own UTF-8 bytes.
     */
    const char *CONNECTOR_NULLABLE arguments;
    uint64_t arguments_length;
    /** When the call times out, in monotonic nanoseconds; CONNECTOR_NO_DEADLINE for that of `during`, or else 30 s. */
    uint64_t deadline_ns;
    /**
     * The plugin's own call that this one serves: its connector_call.operation. 0 stands for the call that the thread
     * is running, if any; a callback of the host runs in the call that asked for it. A number that no call has, such as
     * UINT64_MAX, stands for none: use it for background work. When the host gives that call up, it cancels this one,
     * whose deadline is never later than that call's.
     */
    uint64_t during;
} connector_gates_call;

/**
 * Receives the end of a call, exactly once: `status` CONNECTOR_OK and the result as JSON, which the host has checked (null
 * if the operation has none; `bytes` are {"base64": "…"}), or a failure and an error, which names the used connector: the
 * used gate's own, CONNECTOR_NOT_OPEN, CONNECTOR_TIMED_OUT, CONNECTOR_CANCELLED, CONNECTOR_UNSUPPORTED, CONNECTOR_INVALID.
 * Runs on a thread of the host, one callback at a time for a gate, and must not block. It never runs inside `call` on the
 * caller's thread, but may run on another thread before `call` has returned. It has run before the plugin's `destroy`, and
 * never runs after it.
 */
typedef void (*connector_gates_done)(void *CONNECTOR_NULLABLE user, int32_t status,
                                     const char *CONNECTOR_NULLABLE json_borrowed, uint64_t json_length,
                                     const connector_error *CONNECTOR_NULLABLE error_borrowed);

/** The table of gates/1. */
typedef struct connector_gates {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /**
     * Calls an operation of a used gate. After CONNECTOR_OK, `done(user, …)` runs once; after a failure, it never runs:
     * CONNECTOR_INVALID (a name that is not in "uses", arguments that are not JSON), CONNECTOR_RATE_LIMITED (too many calls
     * in progress, or too much in their arguments), CONNECTOR_NOT_OPEN (the gate is closing). The host copies everything
     * before it returns. `*call_id` identifies the call to `cancel` and is set before `done` can run. [any]
     */
    int32_t (*CONNECTOR_NONNULL call)(void *CONNECTOR_NONNULL context,
                                      const connector_gates_call *CONNECTOR_NONNULL call_borrowed,
                                      connector_gates_done CONNECTOR_NONNULL done, void *CONNECTOR_NULLABLE user,
                                      uint64_t *CONNECTOR_NONNULL call_id, connector_error *CONNECTOR_NONNULL error);

    /** Cancels a call: `done` runs soon with CONNECTOR_CANCELLED, unless it has run already. Idempotent. [any] */
    void (*CONNECTOR_NONNULL cancel)(void *CONNECTOR_NONNULL context, uint64_t call_id);

    /**
     * Whether a connector is bound to a use: CONNECTOR_OK if one is; CONNECTOR_UNSUPPORTED if the use is optional and none
     * is, in which case `call` fails with the same status; CONNECTOR_INVALID if "uses" does not name it. The answer never
     * changes for an instance. An older host does not have this function, and no optional uses: check CONNECTOR_HAS_FIELD.
     * [any]
     */
    int32_t (*CONNECTOR_NONNULL bound)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL use_borrowed,
                                       uint64_t use_length);
} connector_gates;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
