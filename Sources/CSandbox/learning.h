/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * learning.h: what a plugin did that the sandbox would have refused, as its settings.
 */
#ifndef SANDBOX_LEARNING_H
#define SANDBOX_LEARNING_H

#include <stddef.h>
#include <stdint.h>

#define LEARNED_COUNT 64

/** Paths, each once. */
typedef struct learned_paths {
    char paths[LEARNED_COUNT][512];
    int count;
} learned_paths;

typedef struct learned {
    learned_paths read, write;
    int network;
    /** The numbers of calls that no setting allows. */
    int32_t refused[LEARNED_COUNT];
    int refused_count;
} learned;

/** Adds a path; 1 if it is new, and can be written as it is between quotation marks. */
int learned_add(learned_paths *paths, const char *path);

/** Whether a path or one above it is there. */
int learned_covers(const learned_paths *paths, const char *path);

/** Adds a call that no setting allows; 1 if it is new. */
int learned_refuse(learned *learned, int32_t number);

/** Writes the object for the file, with a line feed at its end. Returns its length. */
size_t learned_text(const learned *learned, char *text, size_t capacity);

#endif
