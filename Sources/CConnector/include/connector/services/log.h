/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/log.h: "log/1", the application's log. The host adds the connector's path, as the field "connector", and removes
 * secrets.
 */
#ifndef CONNECTOR_SERVICES_LOG_H
#define CONNECTOR_SERVICES_LOG_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_LOG_SERVICE "log/1"

/** Levels of connector_log.log, which are those of the application's log. */
#define CONNECTOR_LOG_TRACE 0
#define CONNECTOR_LOG_DEBUG 1
#define CONNECTOR_LOG_INFO 2
#define CONNECTOR_LOG_NOTICE 3
#define CONNECTOR_LOG_WARNING 4
#define CONNECTOR_LOG_ERROR 5
#define CONNECTOR_LOG_CRITICAL 6

/** The table of log/1. */
typedef struct connector_log {
    uint32_t struct_size;
    /** The lowest level that the application records when the host hands out the table; skip lines below it. */
    int32_t level;
    /** Passed back as the first argument. */
    void *CONNECTOR_NONNULL context;

    /**
     * Writes one line. An unknown level counts as the nearest known one. `fields_borrowed` is a JSON object of further
     * values, or null. Returns CONNECTOR_OK, or CONNECTOR_MISUSE if a text is not UTF-8 or longer than 64 KiB, or the
     * fields are not a JSON object: the host repairs the line and logs it anyway. Of what an instance writes in one
     * second, 1000 lines and 256 KiB are logged; the host leaves out the other lines, logs how many, and returns
     * CONNECTOR_OK. [any]
     */
    int32_t (*CONNECTOR_NONNULL log)(void *CONNECTOR_NONNULL context, int32_t level,
                                     const char *CONNECTOR_NONNULL message_borrowed, uint64_t message_length,
                                     const char *CONNECTOR_NULLABLE fields_borrowed, uint64_t fields_length);
} connector_log;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
