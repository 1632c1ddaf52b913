/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ends-the-process: every operation ends the process in a way of its own.
 */
#include "../fixture.h"

#include <sys/resource.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "ends-the-process",
    "version": "1.2.3",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Ends the process.",
    "capabilities": {
        "ends/1": {
            "write": {"symbol": "ends_write", "signature": "()"},
            "starve": {"symbol": "ends_starve", "signature": "()"},
            "jump": {"symbol": "ends_jump", "signature": "()"},
            "abort": {"symbol": "ends_abort", "signature": "()"},
            "overflow": {"symbol": "ends_overflow", "signature": "() -> i64"},
            "exit": {"symbol": "ends_exit", "signature": "(status: i32)"},
            "later": {"symbol": "ends_later", "signature": "() async -> json"}
        }
    }
});

/** Writes to where nothing is. */
CONNECTOR_EXPORT int32_t ends_write(void *instance, connector_error *error) {
    (void)instance, (void)error;
    *(volatile int *)(uintptr_t)16 = 1;
    return CONNECTOR_OK;
}

/** Leaves the process without descriptors, and without room for a file, before it ends it. */
CONNECTOR_EXPORT int32_t ends_starve(void *instance, connector_error *error) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    return ends_write(instance, error);
}

/** Calls what is no function: only the stack says who did. */
CONNECTOR_EXPORT int32_t ends_jump(void *instance, connector_error *error) {
    int32_t (*volatile nowhere)(void *) = (int32_t(*)(void *))(uintptr_t)32;
    (void)error;
    return nowhere(instance) + 1;
}

CONNECTOR_EXPORT int32_t ends_abort(void *instance, connector_error *error) {
    (void)instance, (void)error;
    abort();
}

static int64_t deeper(volatile int64_t *above) {
    volatile int64_t here[64];
    here[0] = *above + 1;
    if (here[0] < 0) return 0;
    return deeper(here) + here[0];
}

CONNECTOR_EXPORT int32_t ends_overflow(void *instance, int64_t *result, connector_error *error) {
    volatile int64_t start = 0;
    (void)instance, (void)error;
    *result = deeper(&start);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t ends_exit(void *instance, int32_t status, connector_error *error) {
    (void)instance, (void)error;
    exit(status);
}

CONNECTOR_EXPORT int32_t ends_later(void *instance, const connector_call *call, connector_error *error) {
    (void)instance, (void)call, (void)error;
    __builtin_trap();
}

FIXTURE_PLUGIN(fixture_open)
