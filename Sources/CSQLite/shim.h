/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sqlite3.h>

/* A macro that casts an integer to a function pointer, which Swift cannot import: SQLite copies the bytes it is given. */
static inline sqlite3_destructor_type _Nonnull connector_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/* A function of variable arguments, which Swift cannot import: the end of this connection leaves the write-ahead log alone. */
static inline void connector_sqlite_leave_log(sqlite3 *_Nonnull database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
