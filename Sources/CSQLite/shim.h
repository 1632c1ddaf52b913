/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sqlite3.h>

/* A macro that casts an integer to a function pointer, which Swift cannot import: SQLite copies the bytes it is given. */
static inline sqlite3_destructor_type _Nonnull connector_sqlite_transient(void) { return SQLITE_TRANSIENT; }
