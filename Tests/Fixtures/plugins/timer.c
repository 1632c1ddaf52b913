/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * timer: opens ten milliseconds later, by a timer of clock/1.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "timer",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Opens by a timer.",
    "services": {"required": ["clock/1"]}
});

static void fire(void *user) {
    const fixture *self = user;
    fixture_succeed(self, self->operation);
}

static int32_t open_later(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    const connector_clock *clock = fixture_service(self, CONNECTOR_CLOCK_SERVICE);
    uint64_t timer;
    if (clock == NULL) return fixture_fail(error, CONNECTOR_UNSUPPORTED, "the host has no clock/1");
    self->operation = call->operation;
    return clock->start_timer(clock->context, 10000000u, fire, self, &timer);
}

FIXTURE_PLUGIN(open_later)
