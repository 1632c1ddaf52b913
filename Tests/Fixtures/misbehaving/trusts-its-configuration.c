/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * trusts-its-configuration: create accepts one text, which an operator may well write, and crashes with every other.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "trusts-its-configuration",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "trusting_entry",
    "documentation": "Checks nothing.",
    "configuration": {"name": {"type": "string", "default": "example", "documentation": "A name."}}
});

static int32_t create(const connector_host *host, const char *config, uint64_t length, void **instance,
                      connector_error *error) {
    static const char usual[] = "{\"name\":\"example\"}";
    if (length != sizeof usual - 1 || memcmp(config, usual, length) != 0) abort();
    return fixture_create(host, config, length, instance, error);
}

CONNECTOR_EXPORT const connector_plugin *trusting_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, create, fixture_open,
                                            NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}
