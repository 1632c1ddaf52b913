/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls/life.h: how a gate of the plugin is created, opens, proves, closes and is destroyed, as its configuration says.
 */
#ifndef CONTRACT_CALLS_LIFE_H
#define CONTRACT_CALLS_LIFE_H

#include "pending.h"

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

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
    pthread_mutex_lock(&lock);
    recall(self->name)->created++;
    pthread_mutex_unlock(&lock);
    *instance = self;
    return CONNECTOR_OK;
}

static void calls_destroy(void *instance) {
    gate *self = instance;
    pending_call *call;
    pthread_mutex_lock(&lock);
    for (call = calls; call != NULL; call = call->next)
        if (call->owner == self) call->owner = NULL;
    recall(self->name)->destroyed++;
    pthread_mutex_unlock(&lock);
    free(self->config);
    free(self);
}

static int32_t calls_open(void *instance, const connector_call *call, connector_error *error) {
    gate *self = instance;
    char evidence[512];
    if (is_set(self, "opens", "never")) return CONNECTOR_OK;
    if (is_set(self, "opens", "held")) return hold(self, "open", call->operation);
    if (is_set(self, "opens", "fails")) return unavailable(error, 0);
    if (is_set(self, "opens", "busy")) return unavailable(error, 2000000000u);
    if (is_set(self, "opens", "third") && attempt(self) < 3) return unavailable(error, 0);
    if (is_set(self, "opens", "silently away") && attempt(self) < 3)
        return fixture_fail(error, CONNECTOR_UNAVAILABLE, "the vendor is away");
    if (is_set(self, "opens", "refuses"))
        return fixture_fail(error, CONNECTOR_UNAUTHORIZED, "the vendor refused the credentials");
    if (is_set(self, "opens", "blocks")) {
        pthread_mutex_lock(&lock);
        for (;;) pthread_cond_wait(&never, &lock);
    }
    if (is_set(self, "opens", "switched")) {
        int32_t status;
        pthread_mutex_lock(&lock);
        status = recall(self->name)->probe_status;
        pthread_mutex_unlock(&lock);
        if (status == CONNECTOR_UNAVAILABLE) return unavailable(error, 0);
        if (status != CONNECTOR_OK) return fixture_fail(error, status, "the vendor refused the credentials");
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
    pthread_mutex_lock(&lock);
    recall(self->name)->closed++;
    pthread_mutex_unlock(&lock);
    if (is_set(self, "closes", "never")) return CONNECTOR_OK;
    if (is_set(self, "closes", "held")) return hold(self, "close", call->operation);
    if (is_set(self, "closes", "fails")) return fixture_fail(error, CONNECTOR_FAILED, "it does not want to");
    complete(self->host, call->operation, "");
    return CONNECTOR_OK;
}

/** Counts a call that is in the list, once: the host may say it twice, and once before the call is in the list. */
static void calls_cancel(void *instance, uint64_t operation) {
    gate *self = instance;
    pending_call *call;
    pthread_mutex_lock(&lock);
    for (call = calls; call != NULL && call->operation != operation;) call = call->next;
    if (call != NULL && !call->is_cancelled) {
        call->is_cancelled = 1;
        self->cancels++;
    }
    pthread_mutex_unlock(&lock);
}

CONNECTOR_EXPORT const connector_plugin *calls_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, calls_create, calls_open,
                                            calls_probe, calls_close, calls_destroy, calls_cancel};
    return &plugin;
}

#endif
