/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * insert: inserts rows into a new SQLite file (WAL, synchronized at every commit), prints the nanoseconds and the processor
 * time for each, and removes the file.
 *
 *   insert FILE ROWS BYTES ROWS-IN-A-TRANSACTION
 */
#define _POSIX_C_SOURCE 200809L
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "database.h"

int main(int count, char **arguments) {
    sqlite3 *database;
    sqlite3_stmt *insert;
    char id[40];
    if (count != 5) return 64;
    discard(arguments[1]);
    if (sqlite3_open(arguments[1], &database) != SQLITE_OK) return 1;
    long rows = atol(arguments[2]), bytes = atol(arguments[3]), together = atol(arguments[4]);
    char *payload = calloc(1, (size_t)bytes);
    if (payload == NULL || together < 1) return 1;
    memset(payload, 'x', (size_t)bytes);
    if (sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "CREATE TABLE events(position INTEGER PRIMARY KEY, id TEXT NOT NULL, payload BLOB NOT NULL)",
                     NULL, NULL, NULL) != SQLITE_OK) return 1;
    if (sqlite3_prepare_v2(database, "INSERT INTO events(id, payload) VALUES(?, ?)", -1, &insert, NULL) != SQLITE_OK)
        return 1;
    uint64_t start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long row = 0; row < rows; row++) {
        if (row % together == 0 && sqlite3_exec(database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) return 1;
        snprintf(id, sizeof id, "bench-%030ld", row);
        sqlite3_bind_text(insert, 1, id, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 2, payload, (int)bytes, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK) return 1;
        if ((row + 1) % together == 0 || row + 1 == rows)
            if (sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) return 1;
    }
    double time = (double)(now(CLOCK_MONOTONIC) - start), cost = (double)(now(CLOCK_PROCESS_CPUTIME_ID) - used);
    printf("%.1f %.1f\n", time / (double)rows, cost / (double)rows);
    sqlite3_finalize(insert);
    if (sqlite3_close(database) != SQLITE_OK) return 1;
    discard(arguments[1]);
    return 0;
}
