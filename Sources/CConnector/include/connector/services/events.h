/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/events.h: "events/1", news for the application that nobody asked for: a change at the vendor, a device that
 * appeared. The host adds the connector's path and the time, and removes secrets.
 */
#ifndef CONNECTOR_SERVICES_EVENTS_H
#define CONNECTOR_SERVICES_EVENTS_H

#include "../base.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_EVENTS_SERVICE "events/1"

/** How long the name of an event may be, in bytes. */
#define CONNECTOR_EVENT_NAME_LIMIT 64
/** How long the JSON of an event may be, in bytes. */
#define CONNECTOR_EVENT_JSON_LIMIT 65536

/** The table of events/1. */
typedef struct connector_events {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument. */
    void *CONNECTOR_NONNULL context;

    /**
     * Tells everybody who listens at this moment; never waits for them. A listener that is slow loses the oldest events
     * and is told how many. The name is a letter followed by letters, digits, '.', '_' and '-' (ASCII); the JSON is any
     * value, or null for none.
     *
     * Returns CONNECTOR_OK, also if nobody listens; CONNECTOR_TOO_LARGE beyond the limits above; CONNECTOR_MISUSE for
     * another name, or for text that is not JSON, which is found out only while somebody listens: without listeners an
     * event costs next to nothing. [any]
     */
    int32_t (*CONNECTOR_NONNULL emit)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL name_borrowed,
                                      uint64_t name_length, const char *CONNECTOR_NULLABLE json_borrowed,
                                      uint64_t json_length);
} connector_events;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
