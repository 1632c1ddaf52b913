/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ends-the-process: every operation ends the process in a way of its own.
 */
#define _GNU_SOURCE
#include "../fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

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
            "quick": {"symbol": "ends_quick", "signature": "(status: i32)"},
            "vanish": {"symbol": "ends_vanish", "signature": "()"},
            "syscall": {"symbol": "ends_syscall", "signature": "()"},
            "handle": {"symbol": "ends_handle", "signature": "()"},
            "fork": {"symbol": "ends_fork", "signature": "() -> i32"},
            "release": {"symbol": "ends_release", "signature": "() -> bytes"},
            "thread": {"symbol": "ends_thread", "signature": "()"},
            "later": {"symbol": "ends_later", "signature": "() async -> json"}
        }
    }
});

/** Writes to an address where nothing is mapped. */
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

/** Calls something that is not a function: only the stack tells who did. */
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

CONNECTOR_EXPORT int32_t ends_quick(void *instance, int32_t status, connector_error *error) {
    (void)instance, (void)error;
    quick_exit(status);
}

/** Ends the process in a way that nothing in it can see. */
CONNECTOR_EXPORT int32_t ends_syscall(void *instance, connector_error *error) {
    (void)instance, (void)error;
    return (int32_t)syscall(SYS_exit_group, 0);
}

CONNECTOR_EXPORT int32_t ends_vanish(void *instance, connector_error *error) {
    (void)instance, (void)error;
    _exit(0);
}

static void pretend(int number) {
    (void)number;
    _exit(0);
}

/** Takes the host's handler away, and hides the crash. */
CONNECTOR_EXPORT int32_t ends_handle(void *instance, connector_error *error) {
    signal(SIGSEGV, pretend);
    return ends_write(instance, error);
}

/** Crashes in a copy of the process; the result is the signal that ended the copy. */
CONNECTOR_EXPORT int32_t ends_fork(void *instance, int32_t *result, connector_error *error) {
    int status = 0;
    pid_t copy = fork();
    if (copy == 0) ends_write(instance, error);
    if (copy < 0 || waitpid(copy, &status, 0) != copy) return CONNECTOR_FAILED;
    *result = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return CONNECTOR_OK;
}

/** Leaves pointers to functions on the stack, as calls that have ended do. One of the functions begins where abort() would return to,
 * since the function before it ends with that call. */
static __attribute__((noinline)) void litter(void) {
    volatile uintptr_t pointers[2048];
    const uintptr_t functions[4] = {(uintptr_t)ends_abort, (uintptr_t)ends_overflow, (uintptr_t)ends_exit, (uintptr_t)ends_quick};
    for (size_t index = 0; index < 2048; index++) pointers[index] = functions[index % 4];
    (void)pointers;
}

/** Lends memory that the C library itself is to release, and cannot; no function of this image is on the stack then. */
CONNECTOR_EXPORT int32_t ends_release(void *instance, connector_bytes_owned *result, connector_error *error) {
    static uint8_t bytes[64];
    (void)instance, (void)error;
    litter();
    result->data = bytes;
    result->length = sizeof bytes;
    result->context = bytes + 16;
    result->release = free;
    return CONNECTOR_OK;
}

static void *run(void *nothing) {
    *(volatile int *)(uintptr_t)16 = 1;
    return nothing;
}

/** Crashes on a thread of the plugin's own, with the least stack that there is. */
CONNECTOR_EXPORT int32_t ends_thread(void *instance, connector_error *error) {
    pthread_t thread;
    pthread_attr_t attributes;
    (void)instance, (void)error;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    if (pthread_create(&thread, &attributes, run, NULL) != 0) return CONNECTOR_FAILED;
    pthread_join(thread, NULL);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t ends_later(void *instance, const connector_call *call, connector_error *error) {
    (void)instance, (void)call, (void)error;
    __builtin_trap();
}

FIXTURE_PLUGIN(fixture_open)
