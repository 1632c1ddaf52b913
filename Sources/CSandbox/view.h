/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * view.h: the files that a plugin sees.
 */
#ifndef SANDBOX_VIEW_H
#define SANDBOX_VIEW_H

#include <sandbox.h>

/**
 * Replaces the files of a new mount namespace with those that a plugin may open, and with a `/proc` of its own. Call it in a
 * process of the new PID namespace. If something fails, it records what, and the files stay as they were.
 */
void sandbox_make_view(const sandbox_settings *settings, sandbox_outcome *outcome);

#endif
