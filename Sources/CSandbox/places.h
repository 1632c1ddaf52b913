/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * places.h: the files and directories that a plugin may open, for Landlock and for the view in a mount namespace.
 */
#ifndef SANDBOX_PLACES_H
#define SANDBOX_PLACES_H

#include <sandbox.h>

/** What may be done with a place and everything below it. */
typedef enum place_use {
    place_reads,
    /** A device, which may be written, but neither made nor removed. */
    place_device,
    place_writes,
} place_use;

/**
 * Calls a function with each place; `is_asked` says whether the settings name it. Continues while the function returns 0, and
 * returns what it returned last.
 */
int sandbox_each_place(
    const sandbox_settings *settings, int (*function)(void *context, const char *path, place_use use, int is_asked), void *context
);

/** Whether a path is below one that the settings let a plugin write, by their names. */
int sandbox_is_below_written(const sandbox_settings *settings, const char *path);

/**
 * Opens a place, to name it to the kernel; returns -1 and sets errno if that fails.
 *
 * An earlier plugin with the same settings, or another one, may have made any link below what it may write, so such links are not
 * followed.
 */
int sandbox_open_place(const sandbox_settings *settings, const char *path);

#endif
