/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * acts.h: what hostile code tries.
 */
#ifndef SANDBOXED_ACTS_H
#define SANDBOXED_ACTS_H

/** Does what a name says. Returns 0 if it was possible, or its errno; -1 if there is no such act. */
int act(const char *name, const char *argument, int host);

#endif
