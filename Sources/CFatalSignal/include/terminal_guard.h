/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * terminal_guard.h: a terminal that is given back however the process ends.
 *
 * In C, because handlers of signals give it back. SIGKILL leaves it as it is, and so does code that calls _exit, and a handler of the
 * application's own that ends the process without terminal_guard_leave.
 */
#ifndef TERMINAL_GUARD_H
#define TERMINAL_GUARD_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Takes a terminal: keys arrive one by one and are not echoed; the screen is the alternate one, without a cursor, and reports the
 * mouse and pasted text.
 *
 * `input` and `output` are descriptors of the terminal. Meanwhile standard output and standard error lead to `messages`, so that
 * what a plugin prints does not tear the screen. Signals whose default action would end the process give the terminal back first;
 * a handler that the process has installed is left alone, and fatal_signal.h's gives it back itself. Returns 0, or an errno, after
 * which nothing has changed.
 */
int32_t terminal_guard_enter(int32_t input, int32_t output, int32_t messages);

/**
 * Writes to the terminal as write(2) does, from one thread at a time. Once the terminal is given back, bytes are dropped and count
 * as written: they would overwrite what is said about the end.
 */
ssize_t terminal_guard_write(const void *bytes, size_t length);

/**
 * Gives the terminal back as it was; does nothing if it is not taken, or was taken by another process. Async-signal-safe, from any
 * thread. Waits for a write of another thread to finish, unless the terminal blocks it for longer than a tenth of a second.
 */
void terminal_guard_leave(void);

#endif
