/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * host.h: the functions that the host offers to one instance of a plugin.
 */
#ifndef CONNECTOR_HOST_H
#define CONNECTOR_HOST_H

#include "operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/**
 * The host as one instance sees it. Given to `create`, valid until `destroy` of that instance returns. A plugin may
 * keep the pointer; it never writes through it.
 */
typedef struct connector_host {
    uint32_t struct_size;
    /** The highest version of the ABI that the host speaks. */
    uint32_t abi_version;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /**
     * Returns the function table of a host service, such as "http/1": see services/. Null if the host does not have it,
     * or if the manifest names it neither as required nor as optional, which the host logs. Valid as long as this
     * struct. [any]
     */
    const void *CONNECTOR_NULLABLE (*CONNECTOR_NONNULL service)(void *CONNECTOR_NONNULL context,
                                                                const char *CONNECTOR_NONNULL id_borrowed,
                                                                uint64_t id_length);

    /**
     * Completes an asynchronous call, exactly once. `status` is CONNECTOR_OK, with the result in `result_borrowed`
     * (null if the operation has none), or a failure, with `error_borrowed` to explain it (null without an
     * explanation). The host copies both before it returns.
     *
     * Returns CONNECTOR_OK; CONNECTOR_UNKNOWN_OPERATION if the call is no longer pending (completed, cancelled, past its
     * deadline) or never was; CONNECTOR_FOREIGN_OPERATION if another gate owns the call; CONNECTOR_MISUSE if a pointer
     * that must not be null is null. A call whose result is null with a nonzero length fails. None of these does harm.
     * The host logs a second completion, an unknown operation and a foreign operation as misbehaviour. It does not log
     * completions of a call that was cancelled or timed out, however many arrive before `destroy` returns.
     *
     * If the result is the only key to something that the call has begun, such as the id of an upload, and this does not
     * return CONNECTOR_OK, end it: nobody else can. [any]
     */
    int32_t (*CONNECTOR_NONNULL complete)(void *CONNECTOR_NONNULL context, uint64_t operation, int32_t status,
                                          const uint8_t *CONNECTOR_NULLABLE result_borrowed, uint64_t result_length,
                                          const connector_error *CONNECTOR_NULLABLE error_borrowed);

    /**
     * Reports the progress of a pending call as JSON, any number of times before it completes. Returns the statuses of
     * `complete`, or CONNECTOR_TOO_LARGE for more than 64 KiB. [any]
     */
    int32_t (*CONNECTOR_NONNULL progress)(void *CONNECTOR_NONNULL context, uint64_t operation,
                                          const char *CONNECTOR_NONNULL json_borrowed, uint64_t json_length);
} connector_host;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
