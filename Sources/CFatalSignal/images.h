/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * images.h: which plugin an address or a stack belongs to.
 */
#ifndef FATAL_SIGNAL_IMAGES_H
#define FATAL_SIGNAL_IMAGES_H

#include <stdatomic.h>
#include <stdint.h>

#ifdef __linux__
#include <link.h>
#endif

/** An image of a plugin in this process; kept forever. An image has one entry for each plugin that it is the image of. */
typedef struct image {
    /** Where its code starts and ends, and where the image begins. */
    uintptr_t start, end, base;
    const char *plugin;
    const char *path;
    /** Whether other code uses it: FATAL_SIGNAL_OWN, …_BROUGHT or …_SHARED. */
    int32_t use;
    _Atomic(const char *) gates;
#ifdef __linux__
    /** The symbols that it exports and imports; null if there are none. */
    const ElfW(Sym) *symbols;
#endif
} image;

/** A place in a plugin's code. */
typedef struct image_place {
    /** Null if there is none. */
    const image *image;
    uintptr_t offset;
    /** Whether this code was running, as opposed to code that it had called. */
    int is_running;
    /**
     * Whether the plugin has certainly called. Not if an exported function begins there: a word on the stack with that address may
     * just as well be a pointer to the function. Not in a foreign library, which others may have called.
     */
    int is_certain;
} image_place;

/** What a plugin calls instead of `_exit`: leaves a note, and ends the process with a nonzero status. */
void ended_at_once(int status);

/**
 * The image whose code at an address names its plugin: `marked`, the image of the call that the thread makes, or an image that only
 * its plugin uses. Null if there is none. Async-signal-safe.
 */
const image *image_at(uintptr_t address, const image *marked);

/** The image with an index; null if there is none. */
const image *image_numbered(int32_t index);

/** The file that the code at an address was read from, if that is the image of a plugin; null if not. Async-signal-safe. */
const char *image_path_at(uintptr_t address);

/** Opens what image_on_stack needs; returns 0 or an errno. */
int32_t images_prepare(void);

/** The code of any file in the process: the program, a library, a plugin. */
typedef struct module {
    /** Where its code starts and ends, and where the file's image begins. */
    uintptr_t start, end, base;
    /** Escaped for JSON; empty for the program itself. */
    char path[256];
} module;

/** Records the modules that are loaded now. Not for a signal handler. */
void modules_refresh(void);

/** The module that holds an address; null for none. Async-signal-safe. */
const module *module_at(uintptr_t address);

/**
 * The calls that led to an instruction, outermost last: found by frame pointers, and, beyond code that keeps none, by looking for
 * return addresses, which may also turn up calls that have returned. Async-signal-safe. Returns how many there are.
 */
int frames_of(uintptr_t instruction, uintptr_t top, uintptr_t frame, uintptr_t *frames, int limit);

/**
 * The uppermost place of a plugin's code on a stack, given the running instruction, the top, and the image of the call that the
 * thread makes. Async-signal-safe.
 */
image_place image_on_stack(uintptr_t instruction, uintptr_t top, const image *marked);

#endif
