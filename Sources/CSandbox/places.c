/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "places.h"

#include <link.h>
#include <string.h>

/** What every plugin needs: libraries, time zones, and the number of processors. */
static const char *const system_places[] = {
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
    "/sys/devices/system/cpu", 0,
};

/** Host names, and trusted certificates. */
static const char *const network_places[] = {
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/ssl",
    "/usr/share/ca-certificates", 0,
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", 0};

#define MAPPED_COUNT 16

/** The directories of the libraries that this program has already loaded: others that a plugin needs are beside them. */
static char mapped[MAPPED_COUNT][512];
static const char *mapped_places[MAPPED_COUNT + 1];

static int add_mapped(struct dl_phdr_info *info, size_t size, void *context) {
    int *count = context;
    const char *end = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (end == NULL || info->dlpi_name[0] != '/' || end == info->dlpi_name) return 0;
    const size_t length = (size_t)(end - info->dlpi_name);
    if (length >= sizeof mapped[0] || *count == MAPPED_COUNT) return 0;
    for (int index = 0; index < *count; index++) {
        if (strncmp(mapped[index], info->dlpi_name, length) == 0 && mapped[index][length] == 0) return 0;
    }
    memcpy(mapped[*count], info->dlpi_name, length);
    mapped[*count][length] = 0;
    mapped_places[*count] = mapped[*count];
    mapped_places[++*count] = NULL;
    return 0;
}

/** The directories of what is mapped before any plugin is. */
static const char *const *find_mapped(void) {
    static int count = -1;
    if (count < 0) {
        count = 0;
        dl_iterate_phdr(add_mapped, &count);
    }
    return mapped_places;
}

int sandbox_each_place(
    const sandbox_settings *settings, int (*function)(void *, const char *, place_use, int), void *context
) {
    const struct {
        const char *const *paths;
        place_use use;
        int is_asked;
    } lists[] = {
        {system_places, place_reads, 0}, {find_mapped(), place_reads, 0},
        {settings->network ? network_places : 0, place_reads, 0}, {devices, place_device, 0},
        {settings->read, place_reads, 1}, {settings->write, place_writes, 1},
    };
    for (unsigned list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (const char *const *path = lists[list].paths; path != 0 && *path != 0; path++) {
            const int result = function(context, *path, lists[list].use, lists[list].is_asked);
            if (result != 0) return result;
        }
    }
    return 0;
}
#endif
