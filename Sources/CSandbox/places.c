/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/** Whether a directory is one of the system's places, or below one, which shows it. */
static int is_in_system(const char *path) {
    for (const char *const *place = system_places; *place != 0; place++) {
        const size_t length = strlen(*place);
        if (strncmp(*place, path, length) == 0 && (path[length] == 0 || path[length] == '/')) return 1;
    }
    return 0;
}

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
    if (is_in_system(mapped[*count])) return 0;
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

int sandbox_is_below_written(const sandbox_settings *settings, const char *path) {
    for (const char *const *place = settings->write; place != 0 && *place != 0; place++) {
        const size_t length = strlen(*place);
        if (strncmp(*place, path, length) == 0 && path[length] == '/') return 1;
    }
    return 0;
}

/** Whether a file or a directory is at one of some paths. */
static int is_at(const char *const *paths, const struct stat *status) {
    struct stat place;
    for (; paths != 0 && *paths != 0; paths++) {
        if (stat(*paths, &place) == 0 && place.st_dev == status->st_dev && place.st_ino == status->st_ino) return 1;
    }
    return 0;
}

/** The most links that the kernel follows in a path. */
#define LINK_COUNT 40

/**
 * Opens a path name by name, and follows links until it comes to what a plugin may write, this one or another. Returns a
 * descriptor, or -1 and sets errno; `is_below` says whether it came there.
 */
static int walk(const sandbox_settings *settings, const char *path, int *is_below) {
    /* The path that is left, and the same behind what a link says. */
    char rest[PATH_MAX], longer[PATH_MAX];
    int links = 0, error = 0, place = open("/", O_PATH | O_CLOEXEC);
    *is_below = 0;
    if (place < 0) return -1;
    if (snprintf(rest, sizeof rest, "%s", path) >= (int)sizeof rest) error = ENAMETOOLONG;
    for (char *name = rest + strspn(rest, "/"); error == 0 && *name != 0; name += strspn(name, "/")) {
        struct stat status;
        char *end = name + strcspn(name, "/");
        const char delimiter = *end;
        *end = 0;
        const int next = openat(place, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        *end = delimiter;
        if (next < 0 || fstat(next, &status) != 0) {
            error = errno;
            if (next >= 0) close(next);
            break;
        }
        if (!S_ISLNK(status.st_mode)) {
            close(place);
            place = next;
            name = end;
            if (is_at(settings->write, &status) || is_at(settings->written_by_others, &status)) *is_below = 1;
            continue;
        }
        const ssize_t length = *is_below || links++ == LINK_COUNT ? -1 : readlinkat(next, "", longer, sizeof longer - 1);
        close(next);
        if (length < 0 || (size_t)length + strlen(end) >= sizeof longer) {
            error = ELOOP;
            break;
        }
        strcpy(longer + length, end);
        strcpy(rest, longer);
        name = rest;
        if (*rest != '/') continue;
        close(place);
        place = open("/", O_PATH | O_CLOEXEC);
        if (place < 0) return -1;
    }
    if (error == 0) return place;
    close(place);
    errno = error;
    return -1;
}

int sandbox_open_place(const sandbox_settings *settings, const char *path) {
    const int has_own = settings->write != 0 && *settings->write != 0;
    const int has_others = settings->written_by_others != 0 && *settings->written_by_others != 0;
    if (has_own || has_others) {
        int is_below;
        const int place = walk(settings, path, &is_below);
        if (is_below) return place;
        if (place >= 0) close(place);
    }
    /* Nothing on the way is a plugin's. */
    return open(path, O_PATH | O_CLOEXEC);
}
#endif
