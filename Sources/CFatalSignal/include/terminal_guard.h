/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * terminal_guard.h: a terminal that is given back whatever ends the process.
 *
 * In C, because the handlers of fatal signals give it back, too: see fatal_signal.h. Only SIGKILL leaves it as it is.
 */
#ifndef TERMINAL_GUARD_H
#define TERMINAL_GUARD_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Takes a terminal: keys arrive one by one and unechoed, and the screen is the alternate one, without a cursor, with reports of
 * the mouse and of pasted text.
 *
 * `input` and `output` are descriptors of the terminal. Standard output and standard error lead to `messages` meanwhile, so
 * that what a plugin prints does not tear the screen. Returns 0, or an errno after which nothing has changed.
 */
int32_t terminal_guard_enter(int32_t input, int32_t output, int32_t messages);

/**
 * Writes to the terminal as write(2) does, from one thread at a time. What comes once the terminal is given back is dropped, and
 * counts as written: it would overwrite what is said of the end.
 */
ssize_t terminal_guard_write(const void *bytes, size_t length);

/**
 * Gives the terminal back as it was; does nothing if it is not taken. Async-signal-safe, from any thread. Another thread that
 * writes meanwhile finishes first, unless the terminal blocks it for longer than a tenth of a second.
 */
void terminal_guard_leave(void);

#endif
