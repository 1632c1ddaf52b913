/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * works-in-constructor: a process that loads it has one more thread, one more descriptor, and a changed environment.
 */
#define _GNU_SOURCE
#include "../fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "works-in-constructor",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Begins before it is asked to."
});

static void *wait_for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    (void)!open("/dev/null", O_RDONLY);
    setenv("CONNECTOR_BEGUN", "1", 1);
}

FIXTURE_PLUGIN(fixture_open)
