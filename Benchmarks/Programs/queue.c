/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * queue: does with a new SQLite file the least that an outbox asks of SQLite, prints the nanoseconds and the processor time
 * for each row, and removes the file.
 *
 *   queue FILE ROWS BYTES ROWS-IN-A-TRANSACTION
 *
 * A row has a unique id. The rows of a synchronized transaction are read back in batches of a hundred, each of which moves a
 * cursor, unsynchronized. Ten thousand rows stay behind the cursor; older ones are deleted a thousand at a time.
 */
#define _POSIX_C_SOURCE 200809L
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "database.h"

enum { batch = 100, kept = 10000, deleted = 1000 };
static sqlite3 *database;

static void require(int is_fine) {
    if (is_fine) return;
    fprintf(stderr, "queue: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *text) {
    require(sqlite3_exec(database, text, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepared(const char *text) {
    sqlite3_stmt *statement;
    require(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK);
    return statement;
}

static void finish(sqlite3_stmt *statement) {
    require(sqlite3_step(statement) == SQLITE_DONE && sqlite3_reset(statement) == SQLITE_OK);
}

static sqlite3_stmt *begin, *commit, *insert, *next, *advance, *collect;

/* Inserts rows in one transaction. */
static void store(long first, long count, const char *payload, int bytes) {
    finish(begin);
    for (long row = first; row < first + count; row++) {
        char id[40];
        snprintf(id, sizeof id, "bench-%030ld", row);
        sqlite3_bind_int64(insert, 1, row);
        sqlite3_bind_text(insert, 2, id, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 3, payload, bytes, SQLITE_STATIC);
        finish(insert);
    }
    finish(commit);
}

/* Reads a batch after the cursor into memory of its own, and moves the cursor. */
static void take(long *cursor, long *collected, char *room) {
    finish(begin);
    sqlite3_bind_int64(next, 1, *cursor);
    while (sqlite3_step(next) == SQLITE_ROW) {
        memcpy(room, sqlite3_column_text(next, 1), (size_t)sqlite3_column_bytes(next, 1));
        memcpy(room, sqlite3_column_blob(next, 2), (size_t)sqlite3_column_bytes(next, 2));
        *cursor = sqlite3_column_int64(next, 0);
    }
    require(sqlite3_reset(next) == SQLITE_OK);
    sqlite3_bind_int64(advance, 1, *cursor);
    finish(advance);
    if (*cursor - kept - *collected >= deleted) {
        *collected = *cursor - kept;
        sqlite3_bind_int64(collect, 1, *collected);
        finish(collect);
    }
    finish(commit);
}

int main(int count, char **arguments) {
    if (count != 5) return 64;
    discard(arguments[1]);
    require(sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                            NULL) == SQLITE_OK);
    long rows = atol(arguments[2]), bytes = atol(arguments[3]), together = atol(arguments[4]);
    char *payload = calloc(2, (size_t)bytes + 40);
    if (payload == NULL || together < 1) return 1;
    memset(payload, 'x', (size_t)bytes);
    run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE events(position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, payload BLOB NOT NULL);"
        "CREATE TABLE cursor(position INTEGER NOT NULL); INSERT INTO cursor VALUES(0)");
    begin = prepared("BEGIN IMMEDIATE");
    commit = prepared("COMMIT");
    insert = prepared("INSERT INTO events VALUES(?, ?, ?)");
    next = prepared("SELECT position, id, payload FROM events WHERE position > ? ORDER BY position LIMIT 100");
    advance = prepared("UPDATE cursor SET position = ?");
    collect = prepared("DELETE FROM events WHERE position <= ?");
    uint64_t start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    long cursor = 0, collected = 0;
    for (long stored = 0; stored < rows;) {
        long more = together < rows - stored ? together : rows - stored;
        store(stored + 1, more, payload, (int)bytes);
        stored += more;
        run("PRAGMA synchronous = NORMAL");
        while (cursor < stored && (stored - cursor >= batch || stored == rows)) take(&cursor, &collected, payload + bytes + 40);
        run("PRAGMA synchronous = FULL");
    }
    double time = (double)(now(CLOCK_MONOTONIC) - start), cost = (double)(now(CLOCK_PROCESS_CPUTIME_ID) - used);
    printf("%.1f %.1f\n", time / (double)rows, cost / (double)rows);
    sqlite3_stmt *const statements[] = {begin, commit, insert, next, advance, collect};
    for (int index = 0; index < 6; index++) sqlite3_finalize(statements[index]);
    if (sqlite3_close(database) != SQLITE_OK) return 1;
    discard(arguments[1]);
    free(payload);
    return 0;
}
