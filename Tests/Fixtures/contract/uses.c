/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * uses: passes calls on to the gate that it uses as "inner", and answers with what that gate answers.
 */
#include "../fixture.h"

#include <pthread.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "uses",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "uses_entry",
    "documentation": "Uses another gate.",
    "language": "c",
    "uses": {"inner": "calls/1"},
    "services": {"optional": ["clock/1"]},
    "configuration": {"opens": {"type": "json", "documentation": "What it passes to the used gate to open."}},
    "capabilities": {
        "uses/1": {
            "pass": {
                "symbol": "uses_pass",
                "signature": "(use: string, operation: string, arguments: json, timeout: u64?) async -> json",
                "documentation": "Calls a used gate, within as many nanoseconds."
            },
            "passLater": {
                "symbol": "uses_pass_later",
                "signature": "(operation: string, arguments: json) async -> json",
                "documentation": "Calls the used gate on a thread of its own."
            },
            "passTwice": {
                "symbol": "uses_pass_twice",
                "signature": "(arguments: json) async -> json",
                "documentation": "The same, and then calls its begin in the callback, without naming a call."
            },
            "keep": {
                "symbol": "uses_keep",
                "signature": "(arguments: json) async -> json",
                "documentation": "Calls the used gate's begin, for the call that the thread is running."
            },
            "drop": {"symbol": "uses_drop", "signature": "(arguments: json) async -> string"},
            "table": {"symbol": "uses_table", "signature": "() -> u32"}
        }
    }
});

/** One gate. */
typedef struct uses {
    const connector_host *host;
    const connector_gates *gates;
    /** The arguments of the call by which it opens; empty for none. */
    char opens[256];
    uint64_t opens_length;
    /** How many callbacks have run. */
    uint32_t answers;
} uses;

/** A call that waits for an inner one. */
typedef struct waiting {
    uses *self;
    /** 0 if nothing waits any more. */
    uint64_t operation;
    int is_opening;
} waiting;

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    static const char key[] = "{\"opens\":";
    uses *self = calloc(1, sizeof(uses));
    if (self == NULL) return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
    self->host = host;
    self->gates = host->service(host->context, CONNECTOR_GATES_SERVICE, strlen(CONNECTOR_GATES_SERVICE));
    if (length > strlen(key) + 2 && length < sizeof(self->opens) && memcmp(config, key, strlen(key)) == 0) {
        self->opens_length = length - strlen(key) - 1;
        memcpy(self->opens, config + strlen(key), self->opens_length);
    }
    *instance = self;
    return CONNECTOR_OK;
}

static void answered(void *user, int32_t status, const char *json, uint64_t length, const connector_error *error) {
    waiting *wait = user;
    wait->self->answers++;
    if (status == CONNECTOR_OK && wait->is_opening) {
        json = FIXTURE_EVIDENCE;
        length = sizeof(FIXTURE_EVIDENCE) - 1;
    }
    if (status == CONNECTOR_OK && json == NULL) {
        json = "null";
        length = 4;
    }
    if (wait->operation != 0)
        wait->self->host->complete(wait->self->host->context, wait->operation, status, (const uint8_t *)json, length,
                                   error);
    free(wait);
}

static int32_t call_during(uses *self, uint64_t during, uint64_t completes, int is_opening, const char *use,
                           uint64_t use_length, const char *operation, uint64_t operation_length,
                           const char *arguments, uint64_t arguments_length, uint64_t deadline,
                           connector_error *error) {
    connector_gates_call inner = {sizeof(connector_gates_call), 0, use, use_length, operation, operation_length,
                                  arguments, arguments_length, deadline, during};
    waiting *wait = malloc(sizeof(waiting));
    uint64_t identifier;
    int32_t status;
    if (wait == NULL) return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
    wait->self = self;
    wait->operation = completes;
    wait->is_opening = is_opening;
    if (self->gates == NULL) {
        free(wait);
        return fixture_fail(error, CONNECTOR_UNSUPPORTED, "the host has no gates/1");
    }
    status = self->gates->call(self->gates->context, &inner, answered, wait, &identifier, error);
    if (status != CONNECTOR_OK) free(wait);
    return status;
}

static int32_t call_gate(uses *self, uint64_t completes, int is_opening, const char *use, uint64_t use_length, const char *operation,
                         uint64_t operation_length, const char *arguments, uint64_t arguments_length,
                         uint64_t deadline, connector_error *error) {
    return call_during(self, completes, completes, is_opening, use, use_length, operation, operation_length, arguments,
                       arguments_length, deadline, error);
}

static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    uses *self = instance;
    if (self->opens_length > 0)
        return call_gate(self, call->operation, 1, "inner", 5, "answer", 6, self->opens, self->opens_length,
                         call->deadline_ns, error);
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)FIXTURE_EVIDENCE,
                                sizeof(FIXTURE_EVIDENCE) - 1, NULL);
}

CONNECTOR_EXPORT int32_t uses_pass(void *instance, const connector_call *call, const char *use, uint64_t use_length,
                                   const char *operation, uint64_t operation_length, const char *arguments,
                                   uint64_t arguments_length, const uint64_t *timeout, connector_error *error) {
    uint64_t deadline = CONNECTOR_NO_DEADLINE;
    if (timeout != NULL) {
        const uses *self = instance;
        const connector_clock *clock =
            self->host->service(self->host->context, CONNECTOR_CLOCK_SERVICE, strlen(CONNECTOR_CLOCK_SERVICE));
        if (clock == NULL) return fixture_fail(error, CONNECTOR_UNSUPPORTED, "the host has no clock/1");
        deadline = clock->monotonic_ns(clock->context) + *timeout;
    }
    return call_gate(instance, call->operation, 0, use, use_length, operation, operation_length, arguments,
                     arguments_length, deadline, error);
}

/** A call that a thread of the plugin will make. */
typedef struct later {
    uses *self;
    uint64_t operation;
    char name[64];
    uint64_t name_length;
    char arguments[512];
    uint64_t arguments_length;
} later;

static void *make_later(void *user) {
    later *call = user;
    connector_error error;
    int32_t status;
    memset(&error, 0, sizeof(error));
    error.struct_size = sizeof(error);
    status = call_gate(call->self, call->operation, 0, "inner", 5, call->name, call->name_length, call->arguments,
                       call->arguments_length, CONNECTOR_NO_DEADLINE, &error);
    if (status != CONNECTOR_OK)
        call->self->host->complete(call->self->host->context, call->operation, status, NULL, 0, &error);
    free(call);
    return NULL;
}

/** Calls "begin" for the call that the thread is running, and completes with the answer. */
static void begin_then(void *user, int32_t status, const char *json, uint64_t length, const connector_error *error) {
    later *call = user;
    connector_error inner;
    (void)json;
    (void)length;
    (void)error;
    memset(&inner, 0, sizeof(inner));
    inner.struct_size = sizeof(inner);
    if (status == CONNECTOR_OK)
        status = call_during(call->self, 0, call->operation, 0, "inner", 5, "begin", 5, call->arguments,
                             call->arguments_length, CONNECTOR_NO_DEADLINE, &inner);
    if (status != CONNECTOR_OK)
        call->self->host->complete(call->self->host->context, call->operation, status, NULL, 0, &inner);
    free(call);
}

static void *make_twice(void *user) {
    later *call = user;
    const connector_gates *gates = call->self->gates;
    const connector_gates_call first = {sizeof(connector_gates_call), 0, "inner", 5, "counts", 6, NULL, 0,
                                        CONNECTOR_NO_DEADLINE, call->operation};
    connector_error error;
    uint64_t identifier;
    int32_t status;
    memset(&error, 0, sizeof(error));
    error.struct_size = sizeof(error);
    status = gates->call(gates->context, &first, begin_then, call, &identifier, &error);
    if (status == CONNECTOR_OK) return NULL;
    call->self->host->complete(call->self->host->context, call->operation, status, NULL, 0, &error);
    free(call);
    return NULL;
}

/** Copies a call for a thread of its own. */
static int32_t start_later(uses *self, const connector_call *call, const char *operation, uint64_t operation_length,
                           const char *arguments, uint64_t arguments_length, void *(*make)(void *),
                           connector_error *error) {
    later *copy = calloc(1, sizeof(later));
    pthread_t thread;
    if (copy == NULL || operation_length > sizeof(copy->name) || arguments_length > sizeof(copy->arguments)) {
        free(copy);
        return fixture_fail(error, CONNECTOR_TOO_LARGE, "too much for the fixture");
    }
    copy->self = self;
    copy->operation = call->operation;
    memcpy(copy->name, operation, operation_length);
    copy->name_length = operation_length;
    memcpy(copy->arguments, arguments, arguments_length);
    copy->arguments_length = arguments_length;
    if (pthread_create(&thread, NULL, make, copy) != 0) {
        free(copy);
        return fixture_fail(error, CONNECTOR_FAILED, "no thread");
    }
    pthread_detach(thread);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t uses_pass_later(void *instance, const connector_call *call, const char *operation,
                                         uint64_t operation_length, const char *arguments, uint64_t arguments_length,
                                         connector_error *error) {
    return start_later(instance, call, operation, operation_length, arguments, arguments_length, make_later, error);
}

CONNECTOR_EXPORT int32_t uses_pass_twice(void *instance, const connector_call *call, const char *arguments,
                                         uint64_t arguments_length, connector_error *error) {
    return start_later(instance, call, "", 0, arguments, arguments_length, make_twice, error);
}

/** Calls the inner gate's "begin" without naming its own call, and completes with the answer. */
CONNECTOR_EXPORT int32_t uses_keep(void *instance, const connector_call *call, const char *arguments, uint64_t length,
                                   connector_error *error) {
    return call_during(instance, 0, call->operation, 0, "inner", 5, "begin", 5, arguments, length,
                       CONNECTOR_NO_DEADLINE, error);
}

/** Calls the inner gate's "begin", which stays pending, and completes without waiting for it. */
CONNECTOR_EXPORT int32_t uses_drop(void *instance, const connector_call *call, const char *arguments, uint64_t length,
                                   connector_error *error) {
    uses *self = instance;
    int32_t status = call_gate(self, 0, 0, "inner", 5, "begin", 5, arguments, length, CONNECTOR_NO_DEADLINE, error);
    if (status != CONNECTOR_OK) return status;
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"left", 4, NULL);
}

/** The size of the table of gates/1, 0 if there is none. */
CONNECTOR_EXPORT int32_t uses_table(void *instance, uint32_t *result, connector_error *error) {
    const uses *self = instance;
    (void)error;
    *result = self->gates == NULL ? 0 : self->gates->struct_size;
    return CONNECTOR_OK;
}

static void destroy(void *instance) { free(instance); }

CONNECTOR_EXPORT const connector_plugin *uses_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate,
                                            open_gate, NULL, destroy, NULL};
    return &plugin;
}
