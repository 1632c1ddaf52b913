/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * gate.h: loads a sealed copy of an image of Plugins/quick.c, and opens a gate with an image, as directly as C can. Needs _GNU_SOURCE.
 */
#ifndef GATE_H
#define GATE_H

#include <connector/connector.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** An instance of a plugin. */
typedef struct gate {
    const connector_plugin *plugin;
    void *instance;
} gate;

/** How many operations have succeeded, and the last one's answer, which is in the plugin's memory: copy it to keep it. */
static int gate_completions;
static uint8_t gate_answer[1024];

static const void *gate_no_service(void *context, const char *id, uint64_t length) {
    (void)context;
    (void)id;
    (void)length;
    return NULL;
}

static int32_t gate_complete(void *context, uint64_t operation, int32_t status, const uint8_t *result, uint64_t length,
                        const connector_error *error) {
    (void)context;
    (void)operation;
    (void)error;
    if (length > 0) memcpy(gate_answer, result, length < sizeof gate_answer ? length : sizeof gate_answer);
    gate_completions += status == CONNECTOR_OK;
    return CONNECTOR_OK;
}

static int32_t gate_progress(void *context, uint64_t operation, const char *json, uint64_t length) {
    (void)context;
    (void)operation;
    (void)json;
    (void)length;
    return CONNECTOR_OK;
}

/** A host that lends nothing, and counts what is completed. */
static connector_host gate_host(void) {
    static char context;
    return (connector_host){sizeof(connector_host), CONNECTOR_ABI_VERSION, &context, gate_no_service, gate_complete, gate_progress};
}

/** Makes a sealed copy of an image in memory; -1 if that fails. */
static inline int gate_seal(const char *bytes, size_t count) {
    int copy = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0 || write(copy, bytes, count) != (ssize_t)count) return -1;
    return fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 ? copy : -1;
}

/** Loads a sealed copy of an image in memory, under a number that no other has; null if that fails. */
static inline void *gate_load_sealed(const char *bytes, size_t count, int number) {
    int copy = gate_seal(bytes, count);
    if (copy < 0) return NULL;
    /* A path that was loaded before would yield its earlier image, so the number is spelled in slashes and dots. */
    char place[256] = "/proc/self/fd";
    for (int rest = number; rest != 0; rest >>= 1) strcat(place, rest & 1 ? "/." : "/");
    snprintf(place + strlen(place), sizeof place - strlen(place), "/%d", copy);
    void *image = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    close(copy);
    return image;
}

/** Makes an instance and opens it: 1, or 0 if something is missing or fails. */
static int gate_open(gate *gate, void *image, uint64_t operation, const connector_host *host, const char *config, size_t length) {
    connector_entry entry = image == NULL ? NULL : (connector_entry)dlsym(image, "quick_entry");
    connector_error error;
    error.struct_size = sizeof error;
    if (entry == NULL) return 0;
    gate->plugin = entry();
    if (gate->plugin->create(host, config, length, &gate->instance, &error) != CONNECTOR_OK) return 0;
    connector_call call = {sizeof call, 0, operation, CONNECTOR_NO_DEADLINE};
    return gate->plugin->open(gate->instance, &call, &error) == CONNECTOR_OK;
}

#endif
