/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fatal_signal.h: a note about the plugin whose code is on the stack when a signal or `exit` ends the process.
 *
 * In C, because a signal handler may call only async-signal-safe functions (signal-safety(7)), and Swift promises none. What the
 * handler needs is prepared beforehand: images and their names in static tables, texts that the caller has escaped for JSON,
 * descriptors, alternate stacks. The handler looks for addresses of images on the stack, from the top, and the first one that
 * follows a call instruction names the plugin. A function that ends in a jump to another one leaves no address there, and an
 * address at which an exported function begins may be a pointer to it: in both cases the mark of the call counts, where the host
 * has set one. A foreign library serves the host and other plugins as well, so its code names a plugin only during that plugin's
 * calls, which the host marks.
 */
#ifndef FATAL_SIGNAL_H
#define FATAL_SIGNAL_H

#include <stdint.h>

/** The exit status of a process that a plugin ended with `exit(0)`: EX_SOFTWARE of sysexits.h. */
#define FATAL_SIGNAL_EXIT_STATUS 70

/**
 * Installs the handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS and SIGABRT in front of those that exist, which run
 * next, and the handler for `exit`. Each first gives back a terminal that was taken: see terminal_guard.h. Gives the calling thread
 * an alternate stack. Call it again to change the file.
 *
 * `path` is the file to write the note to, in directories that are made if need be; null for none. Its blocks are reserved and
 * mapped now, so that a full disk loses no note; the file gets its name when there is a note. Returns 0 or an errno.
 */
int32_t fatal_signal_install(const char *_Nullable path);

/** The size of the memory that a note fits into, in bytes. */
#define FATAL_SIGNAL_NOTE_SIZE 32768

/** Like fatal_signal_install, with zeroed memory that another process shares in place of a file. */
int32_t fatal_signal_install_in(char *_Nonnull memory);

/** Gives the calling thread an alternate stack, without which a stack overflow leaves no note. */
void fatal_signal_enter_thread(void);

/**
 * Marks the plugin's function that the calling thread runs from now on; 0 for none. Gives the thread an alternate stack. Returns
 * the previous mark, to be restored later.
 */
uintptr_t fatal_signal_set_calling(uintptr_t function);

/**
 * Marks the foreign library whose function the calling thread runs from now on, by the index of its image; -1 for none. Takes
 * precedence over fatal_signal_set_calling: the function may be in another image, and several plugins may describe one library.
 */
void fatal_signal_set_library(int32_t image);

/**
 * Says whether calls of `exit` and `quick_exit` are mistakes from now on, whoever makes them. A process that ends by such a call
 * with the status 0 ends with FATAL_SIGNAL_EXIT_STATUS instead.
 */
void fatal_signal_guard_exit(int32_t is_guarded);

/** Removes the calling thread's alternate stack. */
void fatal_signal_leave_thread(void);

/** Only the plugin uses its image: any address in it names the plugin. */
#define FATAL_SIGNAL_OWN 0

/**
 * A foreign library that was loaded for the plugin, and that other code may use since: an address in it names the plugin during a
 * marked call, and if nothing else names one.
 */
#define FATAL_SIGNAL_BROUGHT 1

/** A foreign library that the process had already: an address in it names the plugin during a marked call. */
#define FATAL_SIGNAL_SHARED 2

/**
 * Names the plugin of an image, given its handle from dlopen and the use of the image (see above). Catches the image's own calls of
 * `_exit` from now on, unless the image is shared. `plugin` and `path` are kept, and must stay valid forever; they are escaped for
 * JSON. Returns the image's index; -1 if the table is full, and on systems other than Linux.
 */
int32_t fatal_signal_add_image(void *_Nonnull handle, const char *_Nonnull plugin, const char *_Nonnull path, int32_t use);

/** Names the gates that use an image, escaped for JSON and joined by commas; kept as above. */
void fatal_signal_name_gates(int32_t image, const char *_Nonnull gates);

/** Names the plugin whose constructors run on the calling thread; null when they have run. Kept as above. */
void fatal_signal_set_loading(const char *_Nullable plugin);

/** Lets other threads look at the calling thread's stack: see fatal_signal_plugin_of_thread. */
void fatal_signal_be_looked_at(void);

/**
 * The plugin whose code is on the stack of another thread, which is interrupted to look. Null if there is none, or if the thread
 * does not answer within a tenth of a second. `thread` is a pthread_t.
 */
const char *_Nullable fatal_signal_plugin_of_thread(uintptr_t thread);

#endif
