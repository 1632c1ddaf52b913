/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * breaks: breaks the rule of conformance that the field "rule" names, and no other on purpose; without it, it breaks none.
 */
#define _GNU_SOURCE
#include "../fixture.h"

#include <fcntl.h>
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
    "configuration": {"rule": {"type": "string", "documentation": "The id of the rule."}},
    "capabilities": {
        "breaks/1": {
            "number": {
                "symbol": "breaks_number",
                "signature": "(value: i32) -> i32",
                "documentation": "Answers the number.",
                "safe": true
            }
        }
    }
});

static int is(const fixture *self, const char *rule) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", rule);
    return strstr(self->config, quoted) != NULL;
}

static int opened_before;

/** What is never freed. */
static void *volatile kept;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *wait_for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

/** Fails in the way that the rule forbids; CONNECTOR_OK if it forbids none. */
static int32_t fail_badly(const fixture *self, connector_error *error) {
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

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    int32_t status = fixture_create(host, config, length, instance, error);
    const fixture *self = *instance;
    if (status != CONNECTOR_OK) return status;
    if (is(self, "create")) return fixture_destroy(*instance), *instance = NULL, fixture_fail(error, CONNECTOR_INVALID, "it refuses everything");
    if (is(self, "leaks-memory")) kept = memset(malloc(8192), 1, 8192);
    return CONNECTOR_OK;
}

static int32_t open_gate(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    const connector_host *host = self->host;
    pthread_t thread;
    int32_t status = fail_badly(self, error);
    if (status != CONNECTOR_OK) return status;
    if (is(self, "open")) return CONNECTOR_OK;
    if (is(self, "deadline-past") && call->deadline_ns <= now_ns()) return CONNECTOR_OK;
    if (is(self, "leaks-descriptors")) (void)!open("/dev/null", O_RDONLY);
    if (is(self, "leaks-threads")) pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (is(self, "process-state")) setenv("CONNECTOR_BREAKS", "1", 1);
    if (is(self, "signal-handlers")) signal(SIGUSR1, SIG_IGN);
    if (is(self, "no-children")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    if (is(self, "standard-output")) (void)!write(STDOUT_FILENO, "hello\n", 6);
    if (is(self, "services-declared")) (void)fixture_service(self, "storage/1");
    if ((is(self, "reopen") || is(self, "instances-independent")) && opened_before++)
        return fixture_fail(error, CONNECTOR_FAILED, "it opens only once");
    fixture_succeed(self, call->operation);
    if (is(self, "completes-once")) fixture_succeed(self, call->operation);
    if (is(self, "progress-pending")) host->progress(host->context, call->operation, "{}", 2);
    if (is(self, "completes-refused")) return fixture_fail(error, CONNECTOR_FAILED, "it refuses what it completed");
    return CONNECTOR_OK;
}

static int32_t probe(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    if (is(self, "probe")) return CONNECTOR_OK;
    if (is(self, "probe-evidence"))
        return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"{}", 2, NULL);
    fixture_succeed(self, call->operation);
    return CONNECTOR_OK;
}

static int32_t close_gate(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    (void)error;
    if (is(self, "close")) return CONNECTOR_OK;
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
}

static void cancel(void *instance, uint64_t operation) {
    if (is(instance, "cancel-unknown")) fixture_succeed(instance, operation);
}

CONNECTOR_EXPORT int32_t breaks_number(void *instance, int32_t value, int32_t *result, connector_error *error) {
    (void)error;
    if (is(instance, "fuzz-operations") && value < 0) abort();
    *result = value;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT const connector_plugin *breaking_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_gate,
                                            probe, close_gate, fixture_destroy, cancel};
    return &plugin;
}
