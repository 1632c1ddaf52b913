/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * learning.h: what a plugin did that the sandbox would have refused, in the form of its settings.
 */
#ifndef SANDBOX_LEARNING_H
#define SANDBOX_LEARNING_H

#include <stddef.h>
#include <stdint.h>

/** How each line begins, by which the host tells it from what plugins print. */
#define LEARNED_PREFIX "learned: "
#define LEARNED_COUNT 64
/** More than the calls in the table that no setting allows. */
#define LEARNED_SAID_COUNT 256

/** Paths, none of which is below another. */
typedef struct learned_paths {
    char paths[LEARNED_COUNT][512];
    int count;
} learned_paths;

/** Messages that are printed once, besides those about calls. A family of sockets has a number of its own, below the last one. */
enum {
    learned_proc = -1,
    learned_devices = -2,
    learned_null = -3,
    learned_root = -4,
    learned_read_full = -5,
    learned_write_full = -6,
    learned_family = -100,
};

typedef struct learned {
    learned_paths read, write;
    int network;
    /** The descriptor to print to. */
    int output;
    /** The messages already printed: numbers of calls, and those above. */
    int32_t said[LEARNED_SAID_COUNT];
    int said_count;
    char text[2 * LEARNED_COUNT * 520];
} learned;

/** In place of the argument with flags: a call that always writes, and one that only reads. */
#define LEARNED_WRITES (-1)
#define LEARNED_READS (-2)

/** Which files a call names. */
typedef struct learned_call {
    const char *name;
    /** Up to two files, each given by the arguments that hold its directory and its path; -1 for none. */
    int8_t files[2][2];
    /** The argument with the flags of open(2), LEARNED_WRITES or LEARNED_READS. */
    int8_t flags;
    /** Whether that argument points to the flags. */
    uint8_t is_pointer;
    /** Whether it makes, moves or removes a name, which is a matter of the directory around it, whatever has that name now. */
    uint8_t changes_names;
} learned_call;

/** The files that a call names; null if it names none, or only asks whether they exist and what they are. */
const learned_call *learned_call_of(const char *name);

/** Makes a path absolute, without `.`, `..` and empty parts; 0 if it does not fit. `..` is resolved by name, not through links. */
int learned_path(const char *base, const char *name, char *path, size_t capacity);

/** Whether a path is the other one or is below it. */
int learned_is_below(const char *path, const char *other);

/** Whether the list has a path or one above it. */
int learned_covers(const learned_paths *paths, const char *path);

/** Removes a path and those below it. */
void learned_remove(learned_paths *paths, const char *path);

/** Adds a path under the key "read" or "write". Returns 1 if there is more to print. Prints once that there is no room. */
int learned_keep(learned *learned, const char *key, const char *path);

/** Prints a line the first time that its number is passed. Returns 0: the object has not grown. */
__attribute__((format(printf, 3, 4))) int learned_say(learned *learned, int32_t number, const char *format, ...);

/** Prints that no setting allows a socket of a family. Returns 0. */
int learned_say_family(learned *learned, uint32_t family);

/** Prints the object for the file. */
void learned_print(learned *learned);

/** Whether a path is a device, /dev itself, or directly in /dev: no mount of the sandbox but its own has any. */
int learned_is_device(const char *path);

/** Follows the link to an open file; `path` has room for PATH_MAX bytes. Returns 0 if the open file has no path, such as a pipe. */
int learned_leave_proc(char *path);

#endif
