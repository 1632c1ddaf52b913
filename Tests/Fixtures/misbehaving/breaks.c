/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * breaks: breaks the rule of conformance that the field "rule" names, and no other on purpose; without it, it breaks none.
 * "logs-after-destroy" and "asks-after-destroy" break destroy-ends; "closes-descriptors" breaks process-state.
 */
#define _GNU_SOURCE
#include "../fixture.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "breaks",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "breaking_entry",
    "language": "c",
    "documentation": "Breaks a rule.",
    "services": {"optional": ["log/1"]},
    "configuration": {"rule": {"type": "string", "documentation": "The id of the rule."}},
    "capabilities": {
        "breaks/1": {
            "number": {
                "symbol": "breaks_number",
                "signature": "(value: i32) -> i32",
                "documentation": "Answers the number.",
                "safe": true
            },
            "place": {
                "symbol": "breaks_place",
                "signature": "() -> i32",
                "documentation": "Answers 1.",
                "safe": true
            },
            "later": {
                "symbol": "breaks_later",
                "signature": "() async -> json",
                "documentation": "Answers true.",
                "safe": true
            }
        }
    }
});

typedef struct breaking {
    fixture fixture;
    /** The last call of open and of close. */
    uint64_t opening, closing;
    int is_open, was_opened, cancels, closing_cancels;
} breaking;

/** State of all instances, where none should be. */
static int opened_before, closed_before, calls, calls_at_once, cancels_at_once;
static __thread int created_on_this_thread;

/** What is never freed. */
static void *volatile kept;

static int is(const void *instance, const char *rule) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", rule);
    return strstr(((const fixture *)instance)->config, quoted) != NULL;
}

static int count(int *counter, int number) { return __atomic_add_fetch(counter, number, __ATOMIC_SEQ_CST); }

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest(time_t seconds, long milliseconds) {
    struct timespec time = {seconds, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

static void *wait_for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

static int32_t finish(const breaking *self, uint64_t operation, const char *result, uint64_t length) {
    const connector_host *host = self->fixture.host;
    return host->complete(host->context, operation, CONNECTOR_OK, (const uint8_t *)result, length, NULL);
}

/** Fails in the way that the rule forbids; CONNECTOR_OK if it forbids none. */
static int32_t fail_badly(const breaking *self, connector_error *error) {
    int32_t status = CONNECTOR_UNAVAILABLE;
    fixture_fail(error, status, "the vendor is away; try again later");
    if (is(self, "error-status")) return error->code = 77;
    if (is(self, "error-object")) return error->code = CONNECTOR_FAILED, status;
    if (is(self, "error-message")) return error->message[0] = 0, status;
    if (is(self, "error-utf8")) return error->message[0] = (char)0xC3, error->message[1] = 'x', status;
    if (is(self, "error-retryable")) return error->retryable = 7, status;
    if (is(self, "error-text")) return error->message[3] = '\n', status;
    if (is(self, "error-help")) return fixture_fail(error, status, "error");
    return CONNECTOR_OK;
}

/** Uses something of the host's process that a runner does not have. */
static int lacks_the_host(const breaking *self) {
    int file = -1;
    if (is(self, "runner-opens")) return getenv("PATH") == NULL;
    if (!is(self, "sandbox-opens")) return 0;
    file = open("/etc/passwd", O_RDONLY);
    return file < 0 || close(file) != 0;
}

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    breaking *self = NULL;
    fixture *plain = NULL;
    int32_t status = fixture_create(host, config, length, (void **)&plain, error);
    if (status != CONNECTOR_OK) return status;
    self = calloc(1, sizeof *self);
    if (self != NULL) self->fixture = *plain;
    free(plain);
    if (self == NULL) return CONNECTOR_FAILED;
    *instance = self;
    created_on_this_thread = 1;
    if (is(self, "leaks-memory")) kept = memset(malloc(8192), 1, 8192);
    if (!is(self, "create")) return CONNECTOR_OK;
    fixture_destroy(self);
    *instance = NULL;
    return fixture_fail(error, CONNECTOR_INVALID, "it refuses everything");
}

/** What open does beside opening. */
static void meddle(const breaking *self) {
    pthread_t thread;
    if (is(self, "leaks-descriptors")) (void)!open("/dev/null", O_RDONLY);
    if (is(self, "leaks-threads")) pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (is(self, "process-state")) setenv("CONNECTOR_BREAKS", "1", 1);
    /* High ones, which the host does not need to go on. */
    if (is(self, "closes-descriptors")) for (int file = 200; file < 1000; file++) close(file);
    if (is(self, "signal-handlers")) signal(SIGUSR1, SIG_IGN);
    if (is(self, "no-children")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    if (is(self, "standard-output")) (void)!write(STDOUT_FILENO, "hello\n", 6);
    if (is(self, "services-declared")) (void)fixture_service(&self->fixture, "storage/1");
    if (is(self, "services-optional") && fixture_service(&self->fixture, "log/1") == NULL) abort();
    if (is(self, "returns")) rest(2, 0);
    if (is(self, "floating-point-mode")) fesetround(FE_UPWARD);
    if (is(self, "cancel-concurrent") && count(&cancels_at_once, 0) > 0) abort();
}

static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    breaking *self = instance;
    const connector_host *host = self->fixture.host;
    int32_t status = fail_badly(self, error);
    int others = count(&opened_before, 1) - 1;
    self->opening = call->operation;
    self->was_opened = 1;
    if (status != CONNECTOR_OK) return status;
    if (is(self, "open") || is(self, "destroy-opening")) return CONNECTOR_OK;
    if (is(self, "deadline-past") && call->deadline_ns <= now_ns()) return CONNECTOR_OK;
    meddle(self);
    if (((is(self, "reopen") || is(self, "instances-independent")) && others > 0) ||
        (is(self, "instances-many") && others > 3))
        return fixture_fail(error, CONNECTOR_FAILED, "others have opened before");
    if (is(self, "any-thread") && !created_on_this_thread)
        return fixture_fail(error, CONNECTOR_FAILED, "another thread created the instance");
    if (lacks_the_host(self)) return fixture_fail(error, CONNECTOR_FAILED, "this is not the host's process");
    self->is_open = 1;
    if (is(self, "open-evidence")) return finish(self, call->operation, "{}", 2);
    if (is(self, "results-readable")) return finish(self, call->operation, NULL, 5), CONNECTOR_OK;
    fixture_succeed(&self->fixture, call->operation);
    if (is(self, "completes-once")) fixture_succeed(&self->fixture, call->operation);
    if (is(self, "completes-own")) fixture_succeed(&self->fixture, call->operation + 1000000);
    if (is(self, "progress-pending")) host->progress(host->context, call->operation, "{}", 2);
    if (is(self, "completes-refused")) return fixture_fail(error, CONNECTOR_FAILED, "it refuses what it completed");
    return CONNECTOR_OK;
}

static int32_t probe(void *instance, const connector_call *call, connector_error *error) {
    const breaking *self = instance;
    (void)error;
    if (is(self, "probe")) return CONNECTOR_OK;
    if (is(self, "probe-evidence")) return finish(self, call->operation, "{}", 2);
    return fixture_succeed(&self->fixture, call->operation);
}

static int32_t close_gate(void *instance, const connector_call *call, connector_error *error) {
    breaking *self = instance;
    (void)error;
    self->closing = call->operation;
    count(&closed_before, 1);
    if (is(self, "close")) return CONNECTOR_OK;
    self->is_open = 0;
    return finish(self, call->operation, NULL, 0);
}

/** What a thread uses after destroy: the log, or the host itself if there is none. */
typedef struct late {
    const connector_host *host;
    const connector_log *log;
} late;

static void *use_late(void *user) {
    late *self = user;
    rest(0, 5);
    if (self->log != NULL) self->log->log(self->log->context, CONNECTOR_LOG_INFO, "late", 4, NULL, 0);
    else (void)self->host->service(self->host->context, "log/1", 5);
    free(self);
    return NULL;
}

/** Leaves a thread behind that turns to the host. */
static void leave_thread(const breaking *self) {
    pthread_t thread;
    late *copy = malloc(sizeof *copy);
    if (copy == NULL) return;
    copy->host = self->fixture.host;
    copy->log = is(self, "logs-after-destroy") ? fixture_service(&self->fixture, "log/1") : NULL;
    if (pthread_create(&thread, NULL, use_late, copy) == 0) pthread_detach(thread);
    else free(copy);
}

static void destroy(void *instance) {
    const breaking *self = instance;
    if (is(self, "logs-after-destroy") || is(self, "asks-after-destroy")) leave_thread(self);
    if ((is(self, "destroy-unopened") && !self->was_opened) || (is(self, "destroy-open") && self->is_open) ||
        (is(self, "destroy-opening") && self->was_opened) || (is(self, "cancel-open") && self->cancels > 0) ||
        (is(self, "cancel-twice") && self->cancels > 1) || (is(self, "cancel-close") && self->closing_cancels > 0))
        abort();
    fixture_destroy(instance);
}

static void cancel(void *instance, uint64_t operation) {
    breaking *self = instance;
    if (operation == self->opening) self->cancels++;
    if (operation == self->closing) self->closing_cancels++;
    if (is(self, "cancel-unknown")) fixture_succeed(&self->fixture, operation);
    if (is(self, "cancel-completed") && operation == self->opening) fixture_succeed(&self->fixture, operation);
    if (is(self, "operations-cancel") && operation != self->opening) abort();
    if (is(self, "cancel-concurrent")) {
        count(&cancels_at_once, 1);
        rest(0, 5);
        count(&cancels_at_once, -1);
    }
}

CONNECTOR_EXPORT int32_t breaks_number(void *instance, int32_t value, int32_t *result, connector_error *error) {
    if (is(instance, "fuzz-operations") && value < 0) abort();
    if (is(instance, "operations-repeat") && count(&calls, 1) > 20) abort();
    if (is(instance, "floating-point-mode")) fesetround(FE_DOWNWARD);
    if (is(instance, "operations-concurrent")) {
        if (count(&calls_at_once, 1) > 1) abort();
        rest(0, 5);
        count(&calls_at_once, -1);
    }
    if (is(instance, "operations-reopen") && count(&closed_before, 0) > 0)
        return fixture_fail(error, CONNECTOR_FAILED, "another one was closed before");
    *result = value;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t breaks_place(void *instance, int32_t *result, connector_error *error) {
    if (is(instance, "runner-answers") && getenv("PATH") == NULL)
        return fixture_fail(error, CONNECTOR_FAILED, "this is not the host's process");
    *result = 1;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t breaks_later(void *instance, const connector_call *call, connector_error *error) {
    (void)error;
    if (is(instance, "operations-cancel")) return CONNECTOR_OK;
    return finish(instance, call->operation, "true", is(instance, "operations-answer") ? 3 : 4);
}

CONNECTOR_EXPORT const connector_plugin *breaking_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate,
                                            probe, close_gate, destroy, cancel};
    return &plugin;
}
