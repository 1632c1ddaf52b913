/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * load FOLDER COUNT [seal]: opens a gate with each generated plugin, as directly as C can: dlopen, dlsym, and the calls that
 * open it. With `seal` it loads a sealed copy in memory of each file, as the host does, so that nobody can change what runs.
 *
 * Prints the nanoseconds that it took. It does nothing else that the host does: it reads no configuration and no manifest,
 * checks nothing, and keeps only what it must.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "gate.h"

static void *load_sealed(const char *path, int number) {
    static char bytes[1 << 20];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    ssize_t count = read(file, bytes, sizeof bytes);
    close(file);
    return count <= 0 ? NULL : gate_load_sealed(bytes, (size_t)count, number);
}

static int open_gate(const char *folder, int number, bool is_sealed, const connector_host *host) {
    static const char config[] = "{\"endpoint\":\"https://api.example.com/v1\",\"key\":\"{{secret:key}}\"}";
    char path[4096];
    snprintf(path, sizeof path, "%s/plugins/libquick-%04d.so", folder, number);
    void *image = is_sealed ? load_sealed(path, number) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (image == NULL) return 0;
    gate gate;
    return gate_open(&gate, image, (uint64_t)number + 1, host, config, sizeof config - 1);
}

int main(int count, char **arguments) {
    const bool is_sealed = count == 4 && strcmp(arguments[3], "seal") == 0;
    if (count != 3 && !is_sealed) return 64;
    const int gates = atoi(arguments[2]);
    const connector_host host = gate_host();
    const uint64_t start = now(CLOCK_MONOTONIC);
    for (int number = 0; number < gates; number++) {
        if (!open_gate(arguments[1], number, is_sealed, &host)) {
            fprintf(stderr, "gate %d did not open: %s\n", number, dlerror());
            return 1;
        }
    }
    const uint64_t end = now(CLOCK_MONOTONIC);
    if (gate_completions != gates) return 1;
    printf("%llu\n", (unsigned long long)(end - start));
    return 0;
}
