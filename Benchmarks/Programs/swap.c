/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * swap FILE: loads a sealed copy of an image in memory two hundred times, each with another mark at its end, opens a gate with it, and
 * destroys the one before, as the host does when an image is swapped. Prints by how many kilobytes the process has grown in the second
 * hundred: what the system, the dynamic linker and the image itself take, which no program that swaps images can avoid.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"

enum { MARK = 16 };

/** The memory that the process cannot give back, with that of images, in kilobytes. */
static long memory(void) {
    char line[256];
    long sum = 0, part;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) exit(1);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "RssAnon: %ld", &part) == 1 || sscanf(line, "RssShmem: %ld", &part) == 1) sum += part;
    fclose(file);
    return sum;
}

/** Loads the image with a mark at its end, for which there is room, and swaps the gate. */
static void load(char *bytes, size_t count, int number) {
    static const char config[] = "{\"endpoint\":\"https://api.example.com/v1\",\"key\":\"{{secret:key}}\"}";
    static gate open;
    static connector_host host;
    const gate earlier = open;
    host = gate_host();
    memset(bytes + count, 0, MARK);
    snprintf(bytes + count, MARK, "%d", number);
    void *image = gate_load_sealed(bytes, count + MARK, number);
    if (!gate_open(&open, image, (uint64_t)number, &host, config, sizeof config - 1)) exit(1);
    if (earlier.plugin != NULL) earlier.plugin->destroy(earlier.instance);
}

int main(int count, char **arguments) {
    static char bytes[(1 << 20) + MARK];
    int file = count > 1 ? open(arguments[1], O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size = file < 0 ? 0 : read(file, bytes, sizeof bytes - MARK);
    if (size <= 0) return 1;
    for (int number = 1; number <= 100; number++) load(bytes, (size_t)size, number);
    long before = memory();
    for (int number = 101; number <= 200; number++) load(bytes, (size_t)size, number);
    printf("%ld\n", memory() - before);
    return 0;
}
