/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * layers.h: the layers besides the filter, in the order in which they are applied.
 */
#ifndef SANDBOX_LAYERS_H
#define SANDBOX_LAYERS_H

#include <sandbox.h>

/** Records that a layer holds. */
void sandbox_holds(sandbox_outcome *outcome, int32_t version);

/** Records that a layer does not hold, and what failed. */
void sandbox_fails(sandbox_outcome *outcome, const char *what, int error);

/** Records that something is less than asked for, if there is room. */
void sandbox_lacks(sandbox_outcome *outcome, const char *what);

/** Records that a path of the settings does not exist or cannot be granted: the layer holds, and the plugin cannot use the path. */
void sandbox_leaves_out(sandbox_outcome *outcome, const char *path);

/** Closes every descriptor that is not kept. */
void sandbox_keep_descriptors(const sandbox_settings *settings, sandbox_outcome *outcome);

/** Stops being root. */
void sandbox_leave_root(sandbox_outcome *outcome);

/**
 * Arranges to end with the host, even while this process is stopped. To be called as soon as possible after a fork, and after a change of
 * user, which undo it. The host may have ended already: a process in a namespace cannot see that, and learns it from its socket.
 */
void sandbox_end_with_host(int32_t host, int is_inside);

/** Enters namespaces, and forks: see sandbox_enter. */
void sandbox_enter_namespaces(const sandbox_settings *settings, sandbox_outcome *outcome);

/** Gives up every capability for good; after the namespaces, which grant some. */
void sandbox_drop_capabilities(sandbox_outcome *outcome);

/**
 * Restricts files, TCP, signals and abstract sockets. `is_reported` says whether the namespaces have reported which paths are
 * left out.
 */
void sandbox_restrict_files(const sandbox_settings *settings, int is_reported, sandbox_outcome *outcome);

/** Bounds resources. */
void sandbox_bound(const sandbox_settings *settings, int is_user_namespace, sandbox_outcome *outcome);

#endif
