/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * asks-undeclared: asks for services that its manifest does not name: while it opens, and while it is created, there for none,
 * one or all of the usual ones, as its configuration says.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "asks-undeclared",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "asking_entry",
    "documentation": "Asks for services without a word in its manifest.",
    "configuration": {"create": {"type": "string", "documentation": "none, one or all."}},
    "services": {"optional": ["clock/1"]}
});

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    static const char *const services[] = {"http/1", "log/1", "clock/1", "events/1", "storage/1"};
    int32_t status = fixture_create(host, config, length, instance, error);
    size_t index, count;
    if (status != CONNECTOR_OK) return status;
    count = strstr(((fixture *)*instance)->config, "all") != NULL   ? 5
            : strstr(((fixture *)*instance)->config, "one") != NULL ? 1
                                                                    : 0;
    for (index = 0; index < count; index++) (void)fixture_service(*instance, services[index]);
    return CONNECTOR_OK;
}

static int32_t open_asking(void *instance, const connector_call *call, connector_error *error) {
    (void)fixture_service(instance, "x/1");
    (void)fixture_service(instance, "x/1");
    (void)fixture_service(instance, "clock/1");
    (void)fixture_service(instance, "storage/1");
    return fixture_open(instance, call, error);
}

CONNECTOR_EXPORT const connector_plugin *asking_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_asking,
                                            NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}
