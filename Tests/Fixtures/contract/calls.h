/* This source file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls.h: a plugin that does what a test tells it to, call by call: the rules of the call contract kept and broken.
 *
 * Calls that are left pending stand in one list for all gates of the image, by the names that tests give them, so that one
 * gate can complete, or try to complete, what another one has pending.
 */
#ifndef CONTRACT_CALLS_H
#define CONTRACT_CALLS_H

#include "../fixture.h"
#include <pthread.h>
#include <stdio.h>

#define NAME_SIZE 64

/** One gate. */
typedef struct gate {
    const connector_host *host;
    char *config;
    char name[NAME_SIZE];
    uint64_t cancels;
    uint64_t running;
    uint64_t most;
} gate;

/** A call that was taken on and, as far as the plugin knows, not completed. */
typedef struct pending_call {
    char name[NAME_SIZE];
    /** Stays valid after the gate is gone. */
    const connector_host *host;
    uint64_t operation;
    /** Null once the gate is gone. */
    gate *owner;
    struct pending_call *next;
} pending_call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pending_call *calls;

/** What outlives the instances of a gate: how often it tried to open, and how its proofs end. */
typedef struct memory {
    char name[NAME_SIZE];
    int attempts;
    int32_t probe_status;
    struct memory *next;
} memory;

static memory *memories;

static void copy_name(char *to, const char *text, uint64_t length) {
    if (length > NAME_SIZE - 1) length = NAME_SIZE - 1;
    memcpy(to, text, length);
    to[length] = 0;
}

/** The text of a field of the configuration, without its quotes and escapes; "" if it is not there. */
static void setting(const gate *self, const char *key, char *value, size_t size) {
    char pattern[NAME_SIZE];
    const char *found;
    size_t length = 0;
    snprintf(pattern, sizeof(pattern), "\"%s\":\"", key);
    found = strstr(self->config, pattern);
    if (found != NULL) {
        for (found += strlen(pattern); *found != 0 && *found != '"' && length + 1 < size; found++) {
            if (*found == '\\' && found[1] != 0) found++;
            value[length++] = *found;
        }
    }
    value[length] = 0;
}

static int is_set(const gate *self, const char *key, const char *value) {
    char text[NAME_SIZE];
    setting(self, key, text, sizeof(text));
    return strcmp(text, value) == 0;
}

static int32_t complete(const connector_host *host, uint64_t operation, const char *json) {
    return host->complete(host->context, operation, CONNECTOR_OK, (const uint8_t *)json, strlen(json), NULL);
}

/** Puts a call into the list. */
static void keep(gate *self, const char *name, uint64_t operation) {
    pending_call *call = calloc(1, sizeof(pending_call));
    if (call == NULL) return;
    copy_name(call->name, name, strlen(name));
    call->host = self->host;
    call->operation = operation;
    call->owner = self;
    pthread_mutex_lock(&lock);
    call->next = calls;
    calls = call;
    self->running++;
    if (self->running > self->most) self->most = self->running;
    pthread_mutex_unlock(&lock);
}

/** The latest call of a name; it stays in the list. */
static int find(const char *text, uint64_t length, pending_call *result) {
    char name[NAME_SIZE];
    pending_call *call;
    copy_name(name, text, length);
    pthread_mutex_lock(&lock);
    for (call = calls; call != NULL && strcmp(call->name, name) != 0;) call = call->next;
    if (call != NULL) *result = *call;
    pthread_mutex_unlock(&lock);
    return call != NULL;
}

static void count_out(gate *owner) {
    if (owner == NULL) return;
    pthread_mutex_lock(&lock);
    if (owner->running > 0) owner->running--;
    pthread_mutex_unlock(&lock);
}

/* Life */

static int32_t calls_create(const connector_host *host, const char *config, uint64_t length, void **instance,
                            connector_error *error) {
    gate *self = calloc(1, sizeof(gate));
    if (self == NULL) return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
    self->host = host;
    self->config = malloc(length + 1);
    if (self->config == NULL) {
        free(self);
        return fixture_fail(error, CONNECTOR_FAILED, "out of memory");
    }
    memcpy(self->config, config, length);
    self->config[length] = 0;
    setting(self, "name", self->name, sizeof(self->name));
    if (is_set(self, "opens", "uncreated")) {
        free(self->config);
        free(self);
        return fixture_fail(error, CONNECTOR_INVALID, "the configuration says so");
    }
    *instance = self;
    return CONNECTOR_OK;
}

static void calls_destroy(void *instance) {
    gate *self = instance;
    pending_call *call;
    pthread_mutex_lock(&lock);
    for (call = calls; call != NULL; call = call->next)
        if (call->owner == self) call->owner = NULL;
    pthread_mutex_unlock(&lock);
    free(self->config);
    free(self);
}

/** Leaves a step pending under the gate's name and the step's. */
static int32_t hold(gate *self, const char *step, uint64_t operation) {
    char name[2 * NAME_SIZE];
    snprintf(name, sizeof(name), "%s:%s", self->name, step);
    keep(self, name, operation);
    return CONNECTOR_OK;
}

/** What is remembered of the gates of a name; the lock must be held. */
static memory *recall(const char *name) {
    memory *found;
    for (found = memories; found != NULL && strcmp(found->name, name) != 0;) found = found->next;
    if (found != NULL) return found;
    found = calloc(1, sizeof(memory));
    if (found == NULL) abort();
    copy_name(found->name, name, strlen(name));
    found->next = memories;
    memories = found;
    return found;
}

static int attempt(const gate *self) {
    int count;
    pthread_mutex_lock(&lock);
    count = ++recall(self->name)->attempts;
    pthread_mutex_unlock(&lock);
    return count;
}

static int32_t unavailable(connector_error *error, uint64_t retry_after_ns) {
    error->retryable = 1;
    error->retry_after_ns = retry_after_ns;
    return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor is away");
}

static int32_t calls_open(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    char evidence[512];
    if (is_set(self, "opens", "never")) return CONNECTOR_OK;
    if (is_set(self, "opens", "held")) return hold(self, "open", call->operation);
    if (is_set(self, "opens", "fails")) return unavailable(error, 0);
    if (is_set(self, "opens", "busy")) return unavailable(error, 2000000000u);
    if (is_set(self, "opens", "third") && attempt(self) < 3) return unavailable(error, 0);
    if (is_set(self, "opens", "refuses"))
        return fixture_fail(error, CONNECTOR_UNAUTHORIZED, "the vendor refused the credentials");
    if (is_set(self, "opens", "blocks")) {
        pthread_mutex_lock(&lock);
        for (;;) pthread_cond_wait(&never, &lock);
    }
    setting(self, "evidence", evidence, sizeof(evidence));
    if (evidence[0] == 0) memcpy(evidence, FIXTURE_EVIDENCE, sizeof(FIXTURE_EVIDENCE));
    complete(self->host, call->operation, evidence);
    if (is_set(self, "opens", "twice")) complete(self->host, call->operation, evidence);
    return CONNECTOR_OK;
}

static int32_t calls_probe(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    int32_t status;
    pthread_mutex_lock(&lock);
    status = recall(self->name)->probe_status;
    pthread_mutex_unlock(&lock);
    if (status < 0) return hold(self, "probe", call->operation);
    if (status != CONNECTOR_OK) return fixture_fail(error, status, "the vendor is away");
    complete(self->host, call->operation, "[{\"kind\":\"reachable\",\"detail\":\"probed\"}]");
    return CONNECTOR_OK;
}

static int32_t calls_close(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    if (is_set(self, "closes", "never")) return CONNECTOR_OK;
    if (is_set(self, "closes", "held")) return hold(self, "close", call->operation);
    if (is_set(self, "closes", "fails")) return fixture_fail(error, CONNECTOR_FAILED, "it does not want to");
    complete(self->host, call->operation, "");
    return CONNECTOR_OK;
}

static void calls_cancel(void *instance, uint64_t operation) {
    gate *self = instance;
    (void)operation;
    pthread_mutex_lock(&lock);
    self->cancels++;
    pthread_mutex_unlock(&lock);
}

CONNECTOR_EXPORT const connector_plugin *calls_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, calls_create, calls_open,
                                            calls_probe, calls_close, calls_destroy, calls_cancel};
    return &plugin;
}

/* Operations */

/** Leaves the call pending under a name. */
CONNECTOR_EXPORT int32_t calls_begin(void *instance, const connector_call *call, const char *name, uint64_t length,
                                     connector_error *error) {
    char copy[NAME_SIZE];
    (void)error;
    copy_name(copy, name, length);
    keep(instance, copy, call->operation);
    return CONNECTOR_OK;
}

/** Answers as the configuration says: "replies", "fails", or what it was given. */
CONNECTOR_EXPORT int32_t calls_answer(void *instance, const connector_call *call, const char *json, uint64_t length,
                                      connector_error *error) {
    gate *self = instance;
    char text[512];
    if (is_set(self, "fails", "away")) return unavailable(error, 0);
    if (is_set(self, "fails", "wrong")) return fixture_fail(error, CONNECTOR_INVALID, "it does not like the value");
    setting(self, "replies", text, sizeof(text));
    if (strcmp(text, "later") == 0) return hold(self, "answer", call->operation);
    if (text[0] != 0) {
        complete(self->host, call->operation, text);
    } else {
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)json, length, NULL);
    }
    return CONNECTOR_OK;
}

/** Does not take the call on. */
CONNECTOR_EXPORT int32_t calls_refuse(void *instance, const connector_call *call, int32_t status,
                                      connector_error *error) {
    (void)instance;
    (void)call;
    error->detail = 418;
    return fixture_fail(error, status, "refused");
}

/** Refuses the call, and completes it all the same. */
CONNECTOR_EXPORT int32_t calls_both(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    complete(self->host, call->operation, "true");
    return fixture_fail(error, CONNECTOR_FAILED, "refused after it was completed");
}

/** Completes a call in the name of this gate; the answer is the host's. */
CONNECTOR_EXPORT int32_t calls_finish(void *instance, const char *name, uint64_t name_length, const char *json,
                                      uint64_t json_length, int32_t *result, connector_error *error) {
    gate *self = instance;
    pending_call call;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    *result = self->host->complete(self->host->context, call.operation, CONNECTOR_OK, (const uint8_t *)json, json_length,
                                   NULL);
    if (*result == CONNECTOR_OK) count_out(call.owner);
    return CONNECTOR_OK;
}

/** Completes a call in the name of the gate that has, or had, it pending. */
CONNECTOR_EXPORT int32_t calls_finish_as_owner(void *instance, const char *name, uint64_t name_length, const char *json,
                                               uint64_t json_length, int32_t *result, connector_error *error) {
    pending_call call;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    count_out(call.owner);
    *result = call.host->complete(call.host->context, call.operation, CONNECTOR_OK, (const uint8_t *)json, json_length,
                                  NULL);
    return CONNECTOR_OK;
}

/** Fails a call in the name of the gate that has it pending. */
CONNECTOR_EXPORT int32_t calls_fail(void *instance, const char *name, uint64_t name_length, int32_t status,
                                    int32_t *result, connector_error *error) {
    pending_call call;
    connector_error failure;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    count_out(call.owner);
    memset(&failure, 0, sizeof(failure));
    failure.struct_size = sizeof(failure);
    failure.retry_after_ns = 3000000000u;
    fixture_fail(&failure, status, "it went wrong later");
    *result = call.host->complete(call.host->context, call.operation, status, NULL, 0, &failure);
    return CONNECTOR_OK;
}

/** Completes an operation of any number. */
CONNECTOR_EXPORT int32_t calls_invent(void *instance, uint64_t operation, int32_t *result, connector_error *error) {
    gate *self = instance;
    (void)error;
    *result = complete(self->host, operation, "null");
    return CONNECTOR_OK;
}

/** Completes a call with a length but no bytes, or with more than any limit allows. */
CONNECTOR_EXPORT int32_t calls_overflow(void *instance, const connector_call *call, uint64_t length,
                                        connector_error *error) {
    gate *self = instance;
    static const uint8_t byte = '1';
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, length == 1 ? NULL : &byte, length, NULL);
    return CONNECTOR_OK;
}

/** Tells how far a call is. */
CONNECTOR_EXPORT int32_t calls_progress(void *instance, const char *name, uint64_t name_length, const char *text,
                                        uint64_t length, int32_t *result, connector_error *error) {
    pending_call call;
    (void)instance;
    if (!find(name, name_length, &call)) return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such call");
    *result = call.host->progress(call.host->context, call.operation, text, length);
    return CONNECTOR_OK;
}

/** How many cancellations came, how many calls run, and how many ever ran at once, in this gate. */
CONNECTOR_EXPORT int32_t calls_counts(void *instance, uint64_t *cancels, uint64_t *running, uint64_t *most,
                                      connector_error *error) {
    gate *self = instance;
    (void)error;
    pthread_mutex_lock(&lock);
    *cancels = self->cancels;
    *running = self->running;
    *most = self->most;
    pthread_mutex_unlock(&lock);
    return CONNECTOR_OK;
}

/** What the proofs of a gate end with from now on; negative leaves them pending. */
CONNECTOR_EXPORT int32_t calls_probes(void *instance, const char *text, uint64_t length, int32_t status,
                                      connector_error *error) {
    char name[NAME_SIZE];
    (void)instance;
    (void)error;
    copy_name(name, text, length);
    pthread_mutex_lock(&lock);
    recall(name)->probe_status = status;
    pthread_mutex_unlock(&lock);
    return CONNECTOR_OK;
}

/** The operations and fields, for the manifests. */
#define CALLS_MANIFEST(id_text, thread_text)                                                                           \
    CONNECTOR_MANIFEST({                                                                                               \
        "manifest": 1,                                                                                                 \
        "id": id_text,                                                                                                 \
        "version": "1.0.0",                                                                                            \
        "abi": [1, 1],                                                                                                 \
        "entry": "calls_entry",                                                                                        \
        "documentation": "Does what a test tells it to.",                                                              \
        "thread": thread_text,                                                                                         \
        "capabilities": {                                                                                              \
            "calls/1": {                                                                                               \
                "begin": {"symbol": "calls_begin", "signature": "(name: string) async -> json"},                       \
                "answer": {"symbol": "calls_answer", "signature": "(value: json) async -> json"},                      \
                "refuse": {"symbol": "calls_refuse", "signature": "(status: i32) async"},                              \
                "both": {"symbol": "calls_both", "signature": "() async -> json"},                                     \
                "finish": {"symbol": "calls_finish", "signature": "(name: string, value: json) -> i32"},               \
                "finishAsOwner": {                                                                                     \
                    "symbol": "calls_finish_as_owner",                                                                 \
                    "signature": "(name: string, value: json) -> i32"                                                  \
                },                                                                                                     \
                "fail": {"symbol": "calls_fail", "signature": "(name: string, status: i32) -> i32"},                   \
                "invent": {"symbol": "calls_invent", "signature": "(operation: u64) -> i32"},                          \
                "overflow": {"symbol": "calls_overflow", "signature": "(length: u64) async -> json"},                  \
                "progress": {"symbol": "calls_progress", "signature": "(name: string, text: string) -> i32"},          \
                "counts": {                                                                                            \
                    "symbol": "calls_counts",                                                                          \
                    "signature": "(cancels: out u64, running: out u64, most: out u64)"                                 \
                },                                                                                                     \
                "probes": {"symbol": "calls_probes", "signature": "(name: string, status: i32)"}                       \
            }                                                                                                          \
        },                                                                                                             \
        "configuration": {                                                                                             \
            "name": {"type": "string"},                                                                                \
            "opens": {"type": "string"},                                                                               \
            "closes": {"type": "string"},                                                                              \
            "evidence": {"type": "string"},                                                                            \
            "replies": {"type": "string"},                                                                             \
            "fails": {"type": "string"},                                                                               \
            "key": {"type": "string", "secret": true}                                                                  \
        }                                                                                                              \
    })

#endif
