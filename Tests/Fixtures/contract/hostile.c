/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * hostile: tries the act that a caller names, and in its constructor, before anybody can stop it, to read a file and to make a socket.
 */
#define _GNU_SOURCE
#include "../fixture.h"

#include "../sandbox/acts.c"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "hostile",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Tries what it should not.",
    "capabilities": {
        "hostile/1": {
            "act": {"symbol": "hostile_act", "signature": "(name: string, argument: string, host: i64) -> i64"},
            "constructed": {"symbol": "hostile_constructed", "signature": "() -> i64"}
        }
    }
});

static int64_t constructed;

__attribute__((constructor)) static void construct(void) {
    constructed = act("read", "/etc/passwd", 0) == 0;
    constructed += 2 * (act("socket", "2", 0) == 0);
    constructed += 4 * (act("spawn", "/bin/true", 0) == 0);
}

static void copy(char *text, size_t capacity, const char *from, uint64_t length) {
    if (length >= capacity) length = capacity - 1;
    memcpy(text, from, (size_t)length);
    text[length] = 0;
}

CONNECTOR_EXPORT int32_t hostile_act(void *instance, const char *name, uint64_t name_length, const char *argument,
                                     uint64_t argument_length, int64_t host, int64_t *result, connector_error *error) {
    char act_name[64], text[4096];
    (void)instance, (void)error;
    copy(act_name, sizeof act_name, name, name_length);
    copy(text, sizeof text, argument, argument_length);
    *result = act(act_name, text, (int)host);
    return CONNECTOR_OK;
}

/** What was possible: 1 a file, 2 a socket, 4 a program. */
CONNECTOR_EXPORT int32_t hostile_constructed(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = constructed;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(fixture_open)
