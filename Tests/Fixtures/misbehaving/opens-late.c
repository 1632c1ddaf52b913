/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * opens-late: completes a second after the deadline of the call.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "opens-late",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Completes after the deadline.",
    "services": {"required": ["clock/1"]}
});

static void fire(void *user) {
    const fixture *self = user;
    fixture_succeed(self, self->operation);
}

static int32_t open_late(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    const connector_clock *clock = fixture_service(self, CONNECTOR_CLOCK_SERVICE);
    uint64_t timer, now;
    if (clock == NULL) return fixture_fail(error, CONNECTOR_UNSUPPORTED, "the host has no clock/1");
    now = clock->monotonic_ns(clock->context);
    self->operation = call->operation;
    return clock->start_timer(clock->context, (call->deadline_ns > now ? call->deadline_ns - now : 0) + 1000000000u,
                              fire, self, &timer);
}

FIXTURE_PLUGIN(open_late)
