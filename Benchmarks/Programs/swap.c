/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * swap FILE: loads a sealed copy in memory of an image two hundred times, each with another mark behind its end, opens a gate with it, and
 * destroys the one before, as the host does when an image is swapped. Prints by how many kilobytes the process has grown in the second
 * hundred: what the system, the dynamic linker and the image itself take, and no program that swaps images can do without.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gate.h"

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

static void load(const char *bytes, size_t count, int number) {
    char mark[16] = {0};
    snprintf(mark, sizeof mark, "%d", number);
    int copy = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0 || write(copy, bytes, count) != (ssize_t)count || write(copy, mark, sizeof mark) != sizeof mark) exit(1);
    if (fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) exit(1);
    /* A path that was seen before would answer with the image that it meant then: spell the number in slashes and dots. */
    char place[256] = "/proc/self/fd";
    for (int rest = number; rest != 0; rest >>= 1) strcat(place, rest & 1 ? "/." : "/");
    snprintf(place + strlen(place), sizeof place - strlen(place), "/%d", copy);
    static const char config[] = "{\"endpoint\":\"https://api.example.com/v1\",\"key\":\"{{secret:key}}\"}";
    static gate open;
    static connector_host host;
    const gate earlier = open;
    host = gate_host();
    if (!gate_open(&open, dlopen(place, RTLD_NOW | RTLD_LOCAL), (uint64_t)number, &host, config, sizeof config - 1)) exit(1);
    if (earlier.plugin != NULL) earlier.plugin->destroy(earlier.instance);
    close(copy);
}

int main(int count, char **arguments) {
    static char bytes[1 << 20];
    int file = count > 1 ? open(arguments[1], O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size = file < 0 ? 0 : read(file, bytes, sizeof bytes);
    if (size <= 0) return 1;
    for (int number = 1; number <= 100; number++) load(bytes, (size_t)size, number);
    long before = memory();
    for (int number = 101; number <= 200; number++) load(bytes, (size_t)size, number);
    printf("%ld\n", memory() - before);
    return 0;
}
