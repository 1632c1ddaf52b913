/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/storage.h: "storage/1", a few values that survive a restart: a cursor, a token, a setting. Each gate has
 * separate values, kept under the application and the gate's path in the tree; successive instances of one gate see the
 * same values.
 *
 * Not for events on their way to a vendor, and not for secrets of the configuration.
 */
#ifndef CONNECTOR_SERVICES_STORAGE_H
#define CONNECTOR_SERVICES_STORAGE_H

#include "../operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_STORAGE_SERVICE "storage/1"

/** The greatest length of a key, in bytes; the least is 1. */
#define CONNECTOR_STORAGE_KEY_LIMIT 128
/** The greatest length of a value, in bytes. */
#define CONNECTOR_STORAGE_VALUE_LIMIT 65536
/** The greatest length of all keys and values of one gate together, in bytes. */
#define CONNECTOR_STORAGE_TOTAL_LIMIT 1048576

/**
 * The table of storage/1. Keys are UTF-8 and compared byte by byte.
 *
 * The first call reads a file; later reads come from memory. `set`, `remove` and `replace` write the file and return once
 * it is on the disk, which takes milliseconds. A change is atomic, even across a crash.
 *
 * Besides the statuses below, all return CONNECTOR_INVALID for a key that breaks the rules, CONNECTOR_MISUSE for null or
 * a struct_size that is too small, and CONNECTOR_UNAVAILABLE if the file cannot be read or written.
 */
typedef struct connector_storage {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /** Reads a value into `*value_owned`, whose struct_size the caller sets. CONNECTOR_NOT_FOUND if there is none. [any] */
    int32_t (*CONNECTOR_NONNULL get)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                     uint64_t key_length, connector_bytes_owned *CONNECTOR_NONNULL value_owned,
                                     connector_error *CONNECTOR_NONNULL error);

    /** Writes a value, which may be empty. CONNECTOR_TOO_LARGE beyond the limits above; nothing is changed then. [any] */
    int32_t (*CONNECTOR_NONNULL set)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                     uint64_t key_length, const uint8_t *CONNECTOR_NULLABLE value_borrowed,
                                     uint64_t value_length, connector_error *CONNECTOR_NONNULL error);

    /** Removes a value. CONNECTOR_NOT_FOUND if there is none. [any] */
    int32_t (*CONNECTOR_NONNULL remove)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                        uint64_t key_length, connector_error *CONNECTOR_NONNULL error);

    /**
     * Lists the keys that start with a prefix, all for an empty one, as a JSON array of strings in the order of their
     * bytes, into `*keys_owned`, whose struct_size the caller sets. [any]
     */
    int32_t (*CONNECTOR_NONNULL list)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NULLABLE prefix_borrowed,
                                      uint64_t prefix_length, connector_bytes_owned *CONNECTOR_NONNULL keys_owned,
                                      connector_error *CONNECTOR_NONNULL error);

    /**
     * Writes a value as `set` does, but only if the key still has the value `expected`, which is null for none; an empty
     * one is not null. CONNECTOR_CONFLICT if it has another by now; nothing is changed then.
     *
     * To change a part of a value, `get` it, change it and `replace` it, and begin again after a conflict. A plain `set`
     * would undo what others write in between: another instance of the gate, because a reload opens the next one before
     * the earlier one ends, or another host of the application. Tables of older hosts end before this field. [any]
     */
    int32_t (*CONNECTOR_NONNULL replace)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                         uint64_t key_length, const uint8_t *CONNECTOR_NULLABLE expected_borrowed,
                                         uint64_t expected_length, const uint8_t *CONNECTOR_NULLABLE value_borrowed,
                                         uint64_t value_length, connector_error *CONNECTOR_NONNULL error);
} connector_storage;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
