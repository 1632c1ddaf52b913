/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fails-badly: refuses a wrong configuration without a message, and leaves an instance behind; refuses to open, and still completes it.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "fails-badly",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "failing_entry",
    "documentation": "Fails without an explanation."
});

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    fixture_create(host, config, length, instance, error);
    return length > 0 && config[length - 1] == '}' ? CONNECTOR_OK : CONNECTOR_INVALID;
}

static int32_t open_and_refuse(void *instance, const connector_call *call, connector_error *error) {
    fixture_succeed(instance, call->operation);
    return fixture_fail(error, CONNECTOR_FAILED, "refused after it was completed");
}

CONNECTOR_EXPORT const connector_plugin *failing_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, open_and_refuse,
                                            NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}
