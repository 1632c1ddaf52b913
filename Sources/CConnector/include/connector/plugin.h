/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * plugin.h: the entry function of a plugin and the life cycle of its instances.
 *
 * The manifest names one exported function as its "entry":
 *
 *   CONNECTOR_EXPORT const connector_plugin *my_plugin(void);
 *
 * The function returns a static table and does nothing else. A plugin has any number of instances, one for each gate:
 *
 *   create → open → (operations, probe)* → close → destroy
 *
 * `open`, `probe` and `close` are asynchronous operations. `open` and `probe` complete with their evidence as JSON: an
 * array of objects in any order,
 *
 *   [{"kind": "configured" | "reachable" | "authenticated", "detail": "for a person"}]
 *
 * A plugin claims the strongest kind that it has just proved, never more. The proof leaves no trace at the vendor.
 *
 * Forbidden to plugins: work in constructors, fork, signal handlers, setenv, chdir, exit, writing to standard output,
 * blocking the calling thread, returning with another floating-point mode (rounding, traps, denormals).
 */
#ifndef CONNECTOR_PLUGIN_H
#define CONNECTOR_PLUGIN_H

#include "host.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/** The life cycle of a plugin's instances: a static table that the entry function returns. */
typedef struct connector_plugin {
    uint32_t struct_size;
    /** The version of the ABI that the plugin was compiled for: CONNECTOR_ABI_VERSION. */
    uint32_t abi_version;

    /**
     * Creates an instance from its configuration: a JSON object with every field of the manifest that has a value or a
     * default, already checked against the manifest. A secret appears as {{secret:NAME}}, which the host replaces in
     * requests: see services/http.h.
     *
     * Does no I/O. `*instance_owned` belongs to the host until `destroy`. [lifecycle]
     */
    int32_t (*CONNECTOR_NONNULL create)(const connector_host *CONNECTOR_NONNULL host,
                                        const char *CONNECTOR_NONNULL config_borrowed, uint64_t config_length,
                                        void *CONNECTOR_NULLABLE *CONNECTOR_NONNULL instance_owned,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Connects to the outside world and completes with evidence. [lifecycle] */
    int32_t (*CONNECTOR_NONNULL open)(void *CONNECTOR_NULLABLE instance, const connector_call *CONNECTOR_NONNULL call_borrowed,
                                      connector_error *CONNECTOR_NONNULL error);

    /** Proves again that the outside world answers, and completes with evidence. Null: never stale. [lifecycle] */
    int32_t (*CONNECTOR_NULLABLE probe)(void *CONNECTOR_NULLABLE instance,
                                        const connector_call *CONNECTOR_NONNULL call_borrowed,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Finishes pending work and disconnects. Null: nothing to do. [lifecycle] */
    int32_t (*CONNECTOR_NULLABLE close)(void *CONNECTOR_NULLABLE instance,
                                        const connector_call *CONNECTOR_NONNULL call_borrowed,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Frees the instance. Once it returns, no code of the instance runs or calls the host. [lifecycle] */
    void (*CONNECTOR_NONNULL destroy)(void *CONNECTOR_NULLABLE instance);

    /**
     * The host cancelled a call: stop working on it soon. A later completion of the call returns
     * CONNECTOR_UNKNOWN_OPERATION. It may come while the function that receives the call still runs, and then comes again
     * after that has returned. Idempotent; an unknown operation is not an error. Null: calls cannot be stopped. [any]
     */
    void (*CONNECTOR_NULLABLE cancel)(void *CONNECTOR_NULLABLE instance, uint64_t operation);
} connector_plugin;

/** The type of the function that the manifest names as its "entry". Runs no other code and cannot fail. [any] */
typedef const connector_plugin *CONNECTOR_NONNULL (*connector_entry)(void);

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
