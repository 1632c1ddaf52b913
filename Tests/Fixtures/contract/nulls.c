/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * nulls: its operation "sweep" calls every function of the host and of every service with null pointers and with lengths
 * that no text has, and answers how many calls the host let pass. Its error names the first one.
 */
#include "../fixture.h"

#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "nulls",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Passes nulls to the host.",
    "services": {"required": ["log/1", "http/1", "clock/1", "events/1", "storage/1"]},
    "capabilities": {"nulls/1": {"sweep": {"symbol": "nulls_sweep", "signature": "() -> i64"}}}
});

/* The compiler must not see that they are null. */
static void *volatile null_pointer;
#define NOTHING ((void *)null_pointer)
/* Lengths from 1 on, with both sides of every limit. */
static const uint64_t lengths[] = {1, 5, 64, 65, 128, 129, 8192, 65536, 65537, 1048576, 67108864, 67108865,
                                   UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
#define LENGTH_COUNT (sizeof lengths / sizeof *lengths)

typedef struct sweep {
    connector_error *error;
    int64_t passed;
} sweep;

static void refused(sweep *self, const char *what, int32_t status) {
    char text[200];
    if (status == CONNECTOR_INVALID || status == CONNECTOR_MISUSE || status == CONNECTOR_TOO_LARGE ||
        status == CONNECTOR_UNKNOWN_OPERATION)
        return;
    if (self->passed++ == 0) {
        snprintf(text, sizeof text, "%s returned %d", what, (int)status);
        fixture_fail(self->error, CONNECTOR_FAILED, text);
    }
}

static void is_null(sweep *self, const char *what, const void *table) {
    refused(self, what, table == NULL ? CONNECTOR_INVALID : CONNECTOR_OK);
}

static void sweep_host(sweep *self, const connector_host *host) {
    static char text[128];
    size_t index;
    memset(text, 'a', sizeof text);
    is_null(self, "service without a context", host->service(NOTHING, "http/1", 6));
    is_null(self, "service without a name", host->service(host->context, NOTHING, 0));
    is_null(self, "service of an empty name", host->service(host->context, text, 0));
    is_null(self, "service of a long name", host->service(host->context, text, 65));
    refused(self, "complete without a context", host->complete(NOTHING, 1, CONNECTOR_OK, NOTHING, 0, NOTHING));
    refused(self, "progress without a context", host->progress(NOTHING, 1, "1", 1));
    refused(self, "progress without JSON", host->progress(host->context, 1, NOTHING, 0));
    for (index = 0; index < LENGTH_COUNT; index++) {
        uint64_t length = lengths[index];
        is_null(self, "service without a name but with a length", host->service(host->context, NOTHING, length));
        refused(self, "complete without a result but with a length",
                host->complete(host->context, 1, CONNECTOR_OK, NOTHING, length, NOTHING));
        refused(self, "complete of a failure without an error",
                host->complete(host->context, 1, CONNECTOR_FAILED, NOTHING, length, NOTHING));
        refused(self, "progress without JSON but with a length", host->progress(host->context, 1, NOTHING, length));
    }
}

static void sweep_log(sweep *self, const connector_log *log) {
    size_t index;
    refused(self, "log without a context", log->log(NOTHING, CONNECTOR_LOG_ERROR, "a", 1, NOTHING, 0));
    for (index = 0; index < LENGTH_COUNT; index++) {
        uint64_t length = lengths[index];
        int32_t level;
        for (level = CONNECTOR_LOG_TRACE; level <= CONNECTOR_LOG_CRITICAL; level++) {
            refused(self, "log without a message but with a length",
                    log->log(log->context, level, NOTHING, length, NOTHING, 0));
            refused(self, "log without fields but with a length", log->log(log->context, level, "a", 1, NOTHING, length));
            refused(self, "log with lengths alone", log->log(log->context, level, NOTHING, length, NOTHING, length));
        }
    }
}

static void fire(void *user) { (void)user; }

static void sweep_clock(sweep *self, const connector_clock *clock) {
    uint64_t timer = 0;
    void (*no_function)(void *) = (void (*)(void *))(uintptr_t)NOTHING;
    (void)clock->wall_ns(NOTHING);
    (void)clock->monotonic_ns(NOTHING);
    refused(self, "start_timer without a context", clock->start_timer(NOTHING, 1, fire, NOTHING, &timer));
    refused(self, "start_timer without a function", clock->start_timer(clock->context, 1, no_function, NOTHING, &timer));
    refused(self, "start_timer without a timer", clock->start_timer(clock->context, 1, fire, NOTHING, NOTHING));
    refused(self, "cancel_timer without a context", clock->cancel_timer(NOTHING, 1));
    refused(self, "cancel_timer of no timer", clock->cancel_timer(clock->context, 0));
}

static void done(void *user, int32_t status, const connector_http_response *response, const connector_error *error) {
    (void)user, (void)status, (void)response, (void)error;
}

static void part(void *user, const connector_http_response *response) {
    (void)user, (void)response;
}

static void sweep_stream(sweep *self, const connector_http *http, const connector_http_request *sound) {
    connector_http_receiver whole, receiver;
    uint64_t id = 0;
    connector_error error;
    size_t index;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    memset(&whole, 0, sizeof whole);
    whole.struct_size = sizeof whole;
    whole.part = part;
    whole.done = done;
    refused(self, "stream without a context", http->stream(NOTHING, sound, &whole, &id, &error));
    refused(self, "stream without a request", http->stream(http->context, NOTHING, &whole, &id, &error));
    refused(self, "stream without a receiver", http->stream(http->context, sound, NOTHING, &id, &error));
    refused(self, "stream without an id", http->stream(http->context, sound, &whole, NOTHING, &error));
    receiver = whole;
    receiver.part = (connector_http_part)(uintptr_t)NOTHING;
    refused(self, "stream without a function for parts", http->stream(http->context, sound, &receiver, &id, &error));
    receiver = whole;
    receiver.done = (connector_http_done)(uintptr_t)NOTHING;
    refused(self, "stream without a function for the end", http->stream(http->context, sound, &receiver, &id, NOTHING));
    for (index = 0; index < LENGTH_COUNT; index++) {
        if (lengths[index] >= sizeof receiver) continue;
        receiver = whole;
        receiver.struct_size = (uint32_t)lengths[index];
        refused(self, "stream with a short receiver", http->stream(http->context, sound, &receiver, &id, &error));
    }
    http->resume(NOTHING, 1);
    http->resume(http->context, 0);
    refused(self, "write without a context", http->write(NOTHING, 1, (const uint8_t *)"a", 1, 0, &error));
    refused(self, "write of no request", http->write(http->context, 0, (const uint8_t *)"a", 1, 0, &error));
    refused(self, "write of nothing with a length", http->write(http->context, 1, NOTHING, 1, 0, &error));
    refused(self, "write of too much", http->write(http->context, 1, (const uint8_t *)"a", UINT64_MAX, 0, NOTHING));
}

static void sweep_http(sweep *self, const connector_http *http) {
    const connector_http_header no_name = {NOTHING, 0, "a", 1};
    connector_http_request sound, request;
    connector_http_header header;
    connector_http_done no_function = (connector_http_done)(uintptr_t)NOTHING;
    uint64_t id = 0;
    connector_error error;
    size_t index;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    memset(&sound, 0, sizeof sound);
    sound.struct_size = sizeof sound;
    sound.method = "GET";
    sound.method_length = 3;
    sound.url = "http://127.0.0.1:1/";
    sound.url_length = 19;
    sound.deadline_ns = CONNECTOR_NO_DEADLINE;
    refused(self, "request without a context", http->request(NOTHING, &sound, done, NOTHING, &id, &error));
    refused(self, "request without a request", http->request(http->context, NOTHING, done, NOTHING, &id, &error));
    refused(self, "request without a function", http->request(http->context, &sound, no_function, NOTHING, &id, &error));
    refused(self, "request without an id", http->request(http->context, &sound, done, NOTHING, NOTHING, &error));
    refused(self, "request without anything", http->request(NOTHING, NOTHING, no_function, NOTHING, NOTHING, NOTHING));
    request = sound;
    request.method = NOTHING, request.method_length = 0;
    refused(self, "request without a method", http->request(http->context, &request, done, NOTHING, &id, NOTHING));
    request = sound;
    request.url = NOTHING, request.url_length = 0;
    refused(self, "request without a URL", http->request(http->context, &request, done, NOTHING, &id, NOTHING));
    request = sound;
    request.headers = &no_name, request.header_count = 1;
    refused(self, "request with a header without a name", http->request(http->context, &request, done, NOTHING, &id, &error));
    for (index = 0; index < LENGTH_COUNT; index++) {
        uint64_t length = lengths[index];
        request = sound;
        request.method = NOTHING, request.method_length = length;
        refused(self, "request without a method but with a length",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        request = sound;
        request.url = NOTHING, request.url_length = length;
        refused(self, "request without a URL but with a length",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        request = sound;
        request.body = NOTHING, request.body_length = length;
        refused(self, "request without a body but with a length",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        request = sound;
        request.headers = NOTHING, request.header_count = length;
        refused(self, "request without headers but with a count",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        request = sound;
        request.headers = &header, request.header_count = 1;
        header.name = NOTHING, header.name_length = length, header.value = "a", header.value_length = 1;
        refused(self, "request with a header without a name but with a length",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        header.name = "a", header.name_length = 1, header.value = NOTHING, header.value_length = length;
        refused(self, "request with a header without a value but with a length",
                http->request(http->context, &request, done, NOTHING, &id, &error));
        if (length < sizeof request) {
            request = sound;
            request.struct_size = (uint32_t)length;
            refused(self, "request of a short struct", http->request(http->context, &request, done, NOTHING, &id, &error));
        }
    }
    http->cancel(NOTHING, 1);
    http->cancel(http->context, 0);
    sweep_stream(self, http, &sound);
}

static void sweep_events(sweep *self, const connector_events *events) {
    size_t index;
    refused(self, "emit without a context", events->emit(NOTHING, "a", 1, NOTHING, 0));
    refused(self, "emit without a name", events->emit(events->context, NOTHING, 0, NOTHING, 0));
    for (index = 0; index < LENGTH_COUNT; index++) {
        uint64_t length = lengths[index];
        refused(self, "emit without a name but with a length", events->emit(events->context, NOTHING, length, NOTHING, 0));
        refused(self, "emit without JSON but with a length", events->emit(events->context, "a", 1, NOTHING, length));
    }
}

static void sweep_storage(sweep *self, const connector_storage *storage) {
    static const uint8_t byte = 1;
    connector_bytes_owned owned, short_owned;
    connector_error error;
    size_t index;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    memset(&owned, 0, sizeof owned);
    owned.struct_size = sizeof owned;
    short_owned = owned;
    short_owned.struct_size = 8;
    refused(self, "get without a context", storage->get(NOTHING, "a", 1, &owned, &error));
    refused(self, "get without a result", storage->get(storage->context, "a", 1, NOTHING, &error));
    refused(self, "get into a short struct", storage->get(storage->context, "a", 1, &short_owned, &error));
    refused(self, "get without anything", storage->get(NOTHING, NOTHING, 0, NOTHING, NOTHING));
    refused(self, "set without a context", storage->set(NOTHING, "a", 1, &byte, 1, &error));
    refused(self, "remove without a context", storage->remove(NOTHING, "a", 1, &error));
    refused(self, "replace without a context", storage->replace(NOTHING, "a", 1, &byte, 1, &byte, 1, &error));
    refused(self, "list without a context", storage->list(NOTHING, "a", 1, &owned, &error));
    refused(self, "list without a result", storage->list(storage->context, "a", 1, NOTHING, &error));
    refused(self, "list into a short struct", storage->list(storage->context, "a", 1, &short_owned, &error));
    for (index = 0; index <= LENGTH_COUNT; index++) {
        uint64_t length = index < LENGTH_COUNT ? lengths[index] : 0;
        refused(self, "get without a key", storage->get(storage->context, NOTHING, length, &owned, &error));
        refused(self, "get without a key or an error", storage->get(storage->context, NOTHING, length, &owned, NOTHING));
        refused(self, "set without a key", storage->set(storage->context, NOTHING, length, &byte, 1, &error));
        refused(self, "remove without a key", storage->remove(storage->context, NOTHING, length, &error));
        refused(self, "replace without a key",
                storage->replace(storage->context, NOTHING, length, &byte, 1, &byte, 1, &error));
        if (length == 0) continue;
        refused(self, "set without a value but with a length",
                storage->set(storage->context, "a", 1, NOTHING, length, NOTHING));
        refused(self, "replace without a value but with a length",
                storage->replace(storage->context, "a", 1, NOTHING, 0, NOTHING, length, &error));
        refused(self, "replace without an expected value but with a length",
                storage->replace(storage->context, "a", 1, NOTHING, length, &byte, 1, NOTHING));
        refused(self, "list without a prefix but with a length",
                storage->list(storage->context, NOTHING, length, &owned, &error));
    }
}

CONNECTOR_EXPORT int32_t nulls_sweep(void *instance, int64_t *result, connector_error *error) {
    const fixture *fixture = instance;
    sweep self = {error, 0};
    sweep_host(&self, fixture->host);
    sweep_log(&self, fixture_service(fixture, CONNECTOR_LOG_SERVICE));
    sweep_clock(&self, fixture_service(fixture, CONNECTOR_CLOCK_SERVICE));
    sweep_http(&self, fixture_service(fixture, CONNECTOR_HTTP_SERVICE));
    sweep_events(&self, fixture_service(fixture, CONNECTOR_EVENTS_SERVICE));
    sweep_storage(&self, fixture_service(fixture, CONNECTOR_STORAGE_SERVICE));
    *result = self.passed;
    return self.passed == 0 ? CONNECTOR_OK : CONNECTOR_FAILED;
}

FIXTURE_PLUGIN(fixture_open)
