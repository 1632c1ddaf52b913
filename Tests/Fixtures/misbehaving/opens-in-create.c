/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * opens-in-create: guesses the operation that its second instance is to open with, and completes it inside create.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "opens-in-create",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "entry",
    "documentation": "Completes open before there is an instance.",
    "capabilities": {
        "lives/1": {"lives": {"symbol": "lives", "signature": "(created: out u64, destroyed: out u64)"}}
    }
});

/** An operation's id names a slot in its lower 20 bits and counts the slot's uses above them. */
#define NEXT_USE (UINT64_C(1) << 20)

static uint64_t last, created, destroyed;

CONNECTOR_EXPORT int32_t lives(void *instance, uint64_t *made, uint64_t *gone, connector_error *error) {
    (void)instance, (void)error;
    *made = __atomic_load_n(&created, __ATOMIC_SEQ_CST);
    *gone = __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST);
    return CONNECTOR_OK;
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    int32_t status = fixture_create(host, config, length, instance, error);
    if (__atomic_add_fetch(&created, 1, __ATOMIC_SEQ_CST) == 2)
        fixture_succeed(*instance, __atomic_load_n(&last, __ATOMIC_SEQ_CST) + NEXT_USE);
    return status;
}

/** The first opening fails, so that the second begins with the next use of the same slot; the third succeeds. */
static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    __atomic_store_n(&last, call->operation, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&created, __ATOMIC_SEQ_CST) > 1) return fixture_succeed(instance, call->operation), CONNECTOR_OK;
    error->retryable = 1;
    return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor is away");
}

static void destroy(void *instance) {
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
    fixture_destroy(instance);
}

CONNECTOR_EXPORT const connector_plugin *entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate,
                                            open_gate, NULL, destroy, NULL};
    return &plugin;
}
