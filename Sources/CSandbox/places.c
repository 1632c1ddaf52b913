/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef __linux__
#include "places.h"

/** What every plugin needs: libraries, time zones, and how many processors there are. */
static const char *const system_places[] = {
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
    "/sys/devices/system/cpu", 0,
};

/** Names of hosts, and whom to trust. */
static const char *const network_places[] = {
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/ssl",
    "/usr/share/ca-certificates", 0,
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", 0};

int sandbox_each_place(
    const sandbox_settings *settings, int (*function)(void *, const char *, place_use, int), void *context
) {
    const struct {
        const char *const *paths;
        place_use use;
        int is_asked;
    } lists[] = {
        {system_places, place_reads, 0}, {settings->network ? network_places : 0, place_reads, 0}, {devices, place_device, 0},
        {settings->libraries, place_reads, 0}, {settings->read, place_reads, 1}, {settings->write, place_writes, 1},
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
