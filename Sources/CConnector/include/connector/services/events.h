/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/events.h: "events/1", unsolicited events for the application: a change at the vendor, a new
 * device. The host adds the connector's path and the time, and removes secrets.
 */
#ifndef CONNECTOR_SERVICES_EVENTS_H
#define CONNECTOR_SERVICES_EVENTS_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_EVENTS_SERVICE "events/1"

/** The greatest length of an event's name, in bytes. */
#define CONNECTOR_EVENT_NAME_LIMIT 64
/** The greatest length of an event's JSON, in bytes. */
#define CONNECTOR_EVENT_JSON_LIMIT 65536

/** The table of events/1. */
typedef struct connector_events {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument. */
    void *CONNECTOR_NONNULL context;

    /**
     * Sends an event to the current listeners, and never waits for them. A slow listener loses the oldest events
     * and learns how many. The name is a letter followed by letters, digits, '.', '_' and '-' (ASCII); the JSON is any
     * value, or null for none.
     *
     * Returns CONNECTOR_OK, even without listeners; CONNECTOR_TOO_LARGE beyond the limits above; CONNECTOR_MISUSE for
     * any other name, or for invalid JSON. The host checks the JSON only for a listener: without one, an event is
     * nearly free. [any]
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
