/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h: what the fixture plugins have in common, so that each file shows only the rule it keeps or breaks.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <connector/connector.h>
#include <stdlib.h>
#include <string.h>

/** The evidence that most fixtures open with. */
#define FIXTURE_EVIDENCE "[{\"kind\":\"configured\",\"detail\":\"fixture\"}]"

/** One instance of a fixture. */
typedef struct fixture {
    const connector_host *host;
    /** The call that a timer or request will complete. */
    uint64_t operation;
    /** The configuration, as it was passed to create; ends with NUL. */
    char *config;
} fixture;

static inline int32_t fixture_create(const connector_host *host, const char *config, uint64_t length,
                                     void **instance, connector_error *error) {
    fixture *self = calloc(1, sizeof(fixture));
    (void)error;
    if (self == NULL) return CONNECTOR_FAILED;
    self->host = host;
    self->config = malloc(length + 1);
    if (self->config == NULL) {
        free(self);
        return CONNECTOR_FAILED;
    }
    memcpy(self->config, config, length);
    self->config[length] = 0;
    *instance = self;
    return CONNECTOR_OK;
}

static inline void fixture_destroy(void *instance) {
    fixture *self = instance;
    free(self->config);
    free(self);
}

/** Completes a call with the usual evidence. */
static inline int32_t fixture_succeed(const fixture *self, uint64_t operation) {
    return self->host->complete(self->host->context, operation, CONNECTOR_OK, (const uint8_t *)FIXTURE_EVIDENCE,
                                sizeof(FIXTURE_EVIDENCE) - 1, NULL);
}

/** Fills in an error. */
static inline int32_t fixture_fail(connector_error *error, int32_t code, const char *message) {
    error->code = code;
    strncpy(error->domain, "fixture", sizeof(error->domain) - 1);
    strncpy(error->message, message, sizeof(error->message) - 1);
    return code;
}

/** Opens within the call itself. */
static inline int32_t fixture_open(void *instance, const connector_call *call, connector_error *error) {
    (void)error;
    fixture_succeed(instance, call->operation);
    return CONNECTOR_OK;
}

/** The service of an id; null if the host does not have it. */
static inline const void *fixture_service(const fixture *self, const char *id) {
    return self->host->service(self->host->context, id, strlen(id));
}

/** The entry function, with an open function of the fixture's own. */
#define FIXTURE_PLUGIN(open_function)                                                                                  \
    CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {                                                     \
        static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create,       \
                                                open_function, open_function, NULL, fixture_destroy, NULL};            \
        return &plugin;                                                                                                \
    }

#endif
