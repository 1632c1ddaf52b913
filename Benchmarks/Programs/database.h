/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * database.h: the file of a SQLite database.
 */
#ifndef BENCHMARK_DATABASE_H
#define BENCHMARK_DATABASE_H

#include <stdio.h>
#include <unistd.h>

/** Removes the file, and what an interrupted run has left of it. */
static inline void discard(const char *file) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[4096];
    for (int index = 0; index < 3; index++) {
        snprintf(name, sizeof name, "%s%s", file, suffixes[index]);
        unlink(name);
    }
}

#endif
