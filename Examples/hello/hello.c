/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * hello: the smallest plugin in C that does something. It brings a capability of its own.
 */
#include <connector/connector.h>
#include <stdlib.h>
#include <string.h>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "hello",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "hello_plugin",
    "language": "c",
    "documentation": "Greets people.",
    "capabilities": {
        "hello/1": {
            "greet": {
                "symbol": "hello_greet",
                "signature": "(name: string) -> string",
                "documentation": "Greets a person by name."
            }
        }
    }
});

/* An operation: its prototype follows from its signature, see connector/operation.h. */
CONNECTOR_EXPORT int32_t hello_greet(void *instance, const char *name_borrowed, uint64_t name_length,
                                     connector_bytes_owned *result, connector_error *error) {
    static const char greeting[] = "Hello, ";
    uint8_t *text;
    (void)instance;
    if (name_length == 0) {
        strcpy(error->message, "a greeting needs a name");
        return error->code = CONNECTOR_INVALID;
    }
    if ((text = malloc(sizeof greeting - 1 + name_length)) == NULL) return error->code = CONNECTOR_FAILED;
    memcpy(text, greeting, sizeof greeting - 1);
    memcpy(text + sizeof greeting - 1, name_borrowed, name_length);
    result->data = text;
    result->length = sizeof greeting - 1 + name_length;
    result->context = text;
    result->release = free;
    return CONNECTOR_OK;
}

/* One instance serves each connector that names the plugin. This one keeps the host, which completes calls. */
static int32_t create(const connector_host *host, const char *config_borrowed, uint64_t config_length,
                      void **instance_owned, connector_error *error) {
    (void)config_borrowed, (void)config_length, (void)error;
    *instance_owned = (void *)host;
    return CONNECTOR_OK;
}

/* The plugin has no server to reach, so it can only claim to be configured. */
static int32_t open_gate(void *instance, const connector_call *call_borrowed, connector_error *error) {
    static const char evidence[] = "[{\"kind\": \"configured\", \"detail\": \"needs no server\"}]";
    const connector_host *host = instance;
    (void)error;
    return host->complete(host->context, call_borrowed->operation, CONNECTOR_OK, (const uint8_t *)evidence,
                          sizeof evidence - 1, NULL);
}

static void destroy(void *instance) { (void)instance; }

CONNECTOR_EXPORT const connector_plugin *hello_plugin(void) {
    static const connector_plugin plugin = {
        sizeof plugin, CONNECTOR_ABI_VERSION, create, open_gate, open_gate, NULL, destroy, NULL,
    };
    return &plugin;
}
