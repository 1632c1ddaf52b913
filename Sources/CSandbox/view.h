/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * view.h: what a plugin sees of the files.
 */
#ifndef SANDBOX_VIEW_H
#define SANDBOX_VIEW_H

#include <sandbox.h>

/**
 * Replaces the files of a new mount namespace by those that a plugin may open, and by a `/proc` of its own. To be called by a
 * process of the new process namespace. Says what is missing, if anything is; the files are as before then.
 */
void sandbox_make_view(const sandbox_settings *settings, sandbox_outcome *outcome);

#endif
