/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sqlite3.h>

/* A macro that casts an integer to a function pointer, which Swift cannot import: SQLite copies the bytes it is given. */
static inline sqlite3_destructor_type _Nonnull connector_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/* A function of variable arguments, which Swift cannot import: closing this connection leaves the write-ahead log alone. */
static inline void connector_sqlite_leave_log(sqlite3 *_Nonnull database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* Macros that compute, which Swift cannot import: the primary code that says what is wrong. Some read errors are not the disk's fault,
 * because the file is shorter than what was written, or the file system knows that its content is damaged. The memory that processes
 * share is a file beside the database, which cannot grow when the disk is full, and a disk without inodes has room for no file at all.
 * The number is the system's (sqlite3_system_errno). */
static inline int connector_sqlite_primary(int code, int number) {
    switch (code) {
#ifdef SQLITE_IOERR_CORRUPTFS
    case SQLITE_IOERR_CORRUPTFS:
#endif
    case SQLITE_IOERR_SHORT_READ: return SQLITE_CORRUPT;
    case SQLITE_IOERR_SHMSIZE: return number == EIO || number == EFBIG ? SQLITE_IOERR : SQLITE_FULL;
    default: break;
    }
    int primary = code & 0xFF;
    if ((primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN) && (number == ENOSPC || number == EDQUOT)) return SQLITE_FULL;
    return primary;
}

/* Treats the file as hostile (sqlite.org/security.html): nothing that its schema contains runs, and nothing rewrites the schema. */
static inline void connector_sqlite_harden(sqlite3 *_Nonnull database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
#endif
}
