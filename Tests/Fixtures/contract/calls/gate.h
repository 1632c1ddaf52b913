/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls/gate.h: one gate of the plugin: its state, its settings, and what is remembered about it after it is gone.
 */
#ifndef CONTRACT_CALLS_GATE_H
#define CONTRACT_CALLS_GATE_H

#include "../../fixture.h"
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
    /** The threads inside `counts`. */
    uint64_t counting;
} gate;

/** Guards everything that the gates of the image share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

/** What outlives the instances of a gate: how often it tried to open, how its proofs end, and how many there were. */
typedef struct memory {
    char name[NAME_SIZE];
    int attempts;
    int32_t probe_status;
    uint64_t created;
    uint64_t closed;
    uint64_t destroyed;
    struct memory *next;
} memory;

static memory *memories;

/** What is remembered about the gates of a name; the lock must be held. */
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

#endif
