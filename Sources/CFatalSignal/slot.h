/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * slot.h: the file that a note goes to, prepared in advance: a full disk, or a process without descriptors, loses no note.
 */
#ifndef FATAL_SIGNAL_SLOT_H
#define FATAL_SIGNAL_SLOT_H

#include "note.h"

/**
 * Prepares the file at a path; null for none. On Linux the file has no name until there is a note, so a process that exits
 * normally leaves nothing behind. Where the file system cannot do that, the file is made when there is a note. Not for a signal
 * handler.
 */
void slot_prepare(const char *path);

/** Prepares memory shared with another process, of the size of a note's text, instead of a file. Not for a signal handler. */
void slot_prepare_memory(char *memory);

/** Whether notes go to memory that another process shares. Async-signal-safe. */
int slot_is_memory(void);

/** Writes the note and gives the file its name, in place of an older one. Async-signal-safe. */
void slot_write(const note *note);

#endif
