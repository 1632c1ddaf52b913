/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * crashes: ends its process in the way that a caller names, or its configuration for `open`, `cancel` and `destroy`. In a runner, it
 * ends nothing else.
 */
#define _POSIX_C_SOURCE 200809L
#include "../fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "crashes",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Ends its process.",
    "services": {"optional": ["log/1", "clock/1", "events/1", "storage/1"]},
    "configuration": {
        "opens": {"type": "string", "documentation": "How open ends the process."},
        "cancels": {"type": "string", "documentation": "How cancel ends the process."},
        "destroys": {"type": "string", "documentation": "How destroy ends the process."}
    },
    "capabilities": {
        "crashes/1": {
            "crash": {"symbol": "crashes_crash", "signature": "(how: string)"},
            "crashSafely": {"symbol": "crashes_crash", "signature": "(how: string)", "safe": true},
            "begin": {"symbol": "crashes_begin", "signature": "(how: string) async -> json"},
            "endThread": {"symbol": "crashes_end_thread", "signature": "()"},
            "judge": {"symbol": "crashes_judge", "signature": "(status: i64) -> i64"},
            "judged": {"symbol": "crashes_judged", "signature": "() -> i64"},
            "process": {"symbol": "crashes_process", "signature": "() -> i64"},
            "variables": {"symbol": "crashes_variables", "signature": "() -> i64"},
            "descriptors": {"symbol": "crashes_descriptors", "signature": "() -> i64"},
            "print": {"symbol": "crashes_print", "signature": "(text: string)"},
            "later": {"symbol": "crashes_later", "signature": "() async -> json"},
            "timers": {"symbol": "crashes_timers", "signature": "(count: i64) -> i64"},
            "time": {"symbol": "crashes_time", "signature": "() -> i64"},
            "store": {"symbol": "crashes_store", "signature": "(key: string, value: string) -> string"},
            "emit": {"symbol": "crashes_emit", "signature": "(name: string) -> i64"},
            "note": {"symbol": "crashes_note", "signature": "(text: string)"}
        }
    }
});

static int is(const char *text, uint64_t length, const char *word) {
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static volatile int depth;
static int overflow(int level) {
    volatile char space[4096];
    space[0] = (char)level;
    depth = level;
    /* Never true, but the compiler does not know that. */
    if (level < 0) return 0;
    return overflow(depth + 1) + space[0];
}

/* Writes a byte over all the memory that host and runner share, and goes on. */
static void overwrite(int byte) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, " rw-s ") == NULL || strstr(line, "memfd:connector-runner") == NULL) continue;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2) memset((void *)(uintptr_t)from, byte, to - from);
    }
    if (maps != NULL) fclose(maps);
}

/* Does so again and again, while other threads use that memory. */
static void *scribble(void *context) {
    for (int round = 0;; round++) overwrite('A' + round % 26);
    return context;
}

static void end(const char *how, uint64_t length) {
    pthread_t thread;
    if (is(how, length, "overwrite")) overwrite('A');
    if (is(how, length, "zero")) overwrite(0);
    if (is(how, length, "zero-and-abort")) {
        overwrite(0);
        abort();
    }
    if (is(how, length, "scribble")) (void)pthread_create(&thread, NULL, scribble, NULL);
    if (is(how, length, "null")) *(volatile int *)(uintptr_t)8 = 1;
    if (is(how, length, "abort")) abort();
    if (is(how, length, "overflow")) (void)overflow(0);
    if (is(how, length, "exit")) exit(3);
    if (is(how, length, "exit-well")) exit(0);
    if (is(how, length, "quit")) _exit(4);
    if (is(how, length, "kill")) raise(SIGKILL);
    if (is(how, length, "stop")) raise(SIGSTOP);
    if (is(how, length, "trap")) __builtin_trap();
    if (is(how, length, "block")) pause();
    if (is(how, length, "close") || is(how, length, "close-and-go-on")) {
        for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
        if (is(how, length, "close")) pause();
    }
    if (is(how, length, "shutdown")) {
        for (int descriptor = 3; descriptor < 1024; descriptor++) (void)shutdown(descriptor, SHUT_RDWR);
        pause();
    }
    if (is(how, length, "end-thread")) pthread_exit(NULL);
    if (is(how, length, "unended")) {
        printf("a line without its end");
        fflush(stdout);
        abort();
    }
    if (is(how, length, "garbage") || is(how, length, "garbage-and-go-on")) {
        char bytes[256];
        memset(bytes, 0xA5, sizeof bytes);
        for (int descriptor = 3; descriptor < 8; descriptor++) (void)!write(descriptor, bytes, sizeof bytes);
        if (is(how, length, "garbage")) pause();
    }
}

CONNECTOR_EXPORT int32_t crashes_crash(void *instance, const char *how, uint64_t length, connector_error *error) {
    (void)instance, (void)error;
    end(how, length);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_end_thread(void *instance, connector_error *error) {
    (void)instance, (void)error;
    pthread_exit(NULL);
}

static void block(void *user) {
    (void)user;
    pause();
}

CONNECTOR_EXPORT int32_t crashes_begin(void *instance, const connector_call *call, const char *how, uint64_t length,
                                       connector_error *error) {
    const fixture *self = instance;
    (void)error;
    end(how, length);
    if (is(how, length, "twice")) {
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"1", 1, NULL);
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"2", 1, NULL);
    }
    if (is(how, length, "progress")) {
        self->host->progress(self->host->context, call->operation, "{\"done\":1}", 10);
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"3", 1, NULL);
    }
    if (is(how, length, "large progress")) {
        static char text[(64 << 10) + 1];
        char result[32];
        memset(text, ' ', sizeof text);
        text[0] = '1';
        const int32_t most = self->host->progress(self->host->context, call->operation, text, sizeof text - 1);
        const int32_t more = self->host->progress(self->host->context, call->operation, text, sizeof text);
        const int count = snprintf(result, sizeof result, "[%d,%d]", (int)most, (int)more);
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)result, (uint64_t)count, NULL);
    }
    if (is(how, length, "callback")) {
        const connector_clock *clock = fixture_service(self, "clock/1");
        uint64_t id;
        return clock->start_timer(clock->context, 1000000, block, NULL, &id);
    }
    if (is(how, length, "pending")) self->host->progress(self->host->context, call->operation, "{\"done\":0}", 10);
    if (is(how, length, "length")) {
        self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)"4", UINT64_MAX, NULL);
    }
    return CONNECTOR_OK;
}

/** How often `judge` was called. */
static volatile int64_t judged;

CONNECTOR_EXPORT int32_t crashes_judge(void *instance, int64_t status, int64_t *result, connector_error *error) {
    (void)instance;
    judged++;
    *result = status;
    return status == CONNECTOR_OK ? CONNECTOR_OK : fixture_fail(error, (int32_t)status, "it is judged");
}

CONNECTOR_EXPORT int32_t crashes_judged(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = judged;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_process(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = getpid();
    return CONNECTOR_OK;
}

extern char **environ;

CONNECTOR_EXPORT int32_t crashes_variables(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 0;
    for (char **variable = environ; *variable != NULL; variable++) ++*result;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_descriptors(void *instance, int64_t *result, connector_error *error) {
    (void)instance, (void)error;
    *result = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++) *result += lseek(descriptor, 0, SEEK_CUR) >= 0 || fsync(descriptor) == 0 || write(descriptor, "", 0) == 0;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_print(void *instance, const char *text, uint64_t length, connector_error *error) {
    (void)instance, (void)error;
    printf("%.*s\n", (int)length, text);
    fflush(stdout);
    return CONNECTOR_OK;
}

typedef struct later {
    const fixture *self;
    uint64_t operation;
} later;

static void fire(void *user) {
    later *timer = user;
    timer->self->host->complete(timer->self->host->context, timer->operation, CONNECTOR_OK, (const uint8_t *)"\"later\"", 7, NULL);
    free(timer);
}

CONNECTOR_EXPORT int32_t crashes_later(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    const connector_clock *clock = fixture_service(self, "clock/1");
    later *timer = malloc(sizeof *timer);
    uint64_t id;
    (void)error;
    *timer = (later){self, call->operation};
    return clock->start_timer(clock->context, 1000000, fire, timer, &id);
}

static void ignore(void *user) { (void)user; }

/* Starts timers that never fire, and tells what the last one got. */
CONNECTOR_EXPORT int32_t crashes_timers(void *instance, int64_t count, int64_t *result, connector_error *error) {
    const fixture *self = instance;
    const connector_clock *clock = fixture_service(self, "clock/1");
    uint64_t id;
    (void)error;
    for (*result = CONNECTOR_OK; count > 0; count--) {
        *result = clock->start_timer(clock->context, UINT64_MAX, ignore, NULL, &id);
    }
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_time(void *instance, int64_t *result, connector_error *error) {
    const fixture *self = instance;
    const connector_clock *clock = fixture_service(self, "clock/1");
    (void)error;
    *result = (int64_t)clock->wall_ns(clock->context);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_store(void *instance, const char *key, uint64_t key_length, const char *value,
                                       uint64_t value_length, connector_bytes_owned *result, connector_error *error) {
    const fixture *self = instance;
    const connector_storage *storage = fixture_service(self, "storage/1");
    int32_t status = storage->set(storage->context, key, key_length, (const uint8_t *)value, value_length, error);
    if (status != CONNECTOR_OK) return status;
    return storage->get(storage->context, key, key_length, result, error);
}

CONNECTOR_EXPORT int32_t crashes_emit(void *instance, const char *name, uint64_t length, int64_t *result, connector_error *error) {
    const fixture *self = instance;
    const connector_events *events = fixture_service(self, "events/1");
    (void)error;
    *result = events->emit(events->context, name, length, "{\"a\":1}", 7);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t crashes_note(void *instance, const char *text, uint64_t length, connector_error *error) {
    const fixture *self = instance;
    const connector_log *log = fixture_service(self, "log/1");
    (void)error;
    return log->log(log->context, CONNECTOR_LOG_WARNING, text, length, NULL, 0);
}

/* Ends the process as a member of the configuration says. */
static void end_as(const fixture *self, const char *member) {
    const char *how = strstr(self->config, member);
    if (how == NULL) return;
    how += strlen(member);
    end(how, (uint64_t)(strchr(how, '"') - how));
}

static int32_t open_or_end(void *instance, const connector_call *call, connector_error *error) {
    const fixture *self = instance;
    end_as(self, "\"opens\":\"");
    /* No other instance opens, because of what `store` has put under "refuses". */
    const connector_storage *storage = fixture_service(self, "storage/1");
    connector_bytes_owned reason = {.struct_size = sizeof reason};
    if (storage != NULL && storage->get(storage->context, "refuses", 7, &reason, error) == CONNECTOR_OK) {
        char text[64] = "";
        memcpy(text, reason.data, reason.length < sizeof text ? reason.length : sizeof text - 1);
        if (reason.release != NULL) reason.release(reason.context);
        if (text[0] != 0) return fixture_fail(error, CONNECTOR_UNAVAILABLE, text);
    }
    return fixture_open(instance, call, error);
}

static void cancel_or_end(void *instance, uint64_t operation) {
    (void)operation;
    end_as(instance, "\"cancels\":\"");
}

static void destroy_or_end(void *instance) {
    end_as(instance, "\"destroys\":\"");
    fixture_destroy(instance);
}

CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create,
                                            open_or_end, open_or_end, NULL, destroy_or_end, cancel_or_end};
    return &plugin;
}
