/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "view.h"

#include "layers.h"
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL_SET_ATTRIBUTES 442
#define RECURSIVELY 0x8000u

/** More than the arguments of a runner that can name places. */
#define PLACE_COUNT 640

/** A place as it was before the view. */
typedef struct place {
    const char *path;
    place_use use;
    int descriptor;
    /** Whether the settings name it: if so, the view can do without it. */
    int is_asked;
} place;

typedef struct view {
    const sandbox_settings *settings;
    place places[PLACE_COUNT];
    int count;
    /** The path that failed. */
    const char *path;
    /** Where the view is being made. */
    const char *base;
    /** Where a path that is left out is reported. */
    sandbox_outcome *outcome;
} view;

/** Opens a place before another file system hides it. */
static int open_place(void *context, const char *path, place_use use, int is_asked) {
    view *view = context;
    view->path = path;
    if (view->count == PLACE_COUNT) return E2BIG;
    const int descriptor = sandbox_open_place(view->settings, path);
    if (descriptor < 0) {
        if (is_asked) sandbox_leaves_out(view->outcome, path);
        return 0;
    }
    /* The place around it shows it, and a link made there meanwhile would lead the mount elsewhere. */
    if (sandbox_is_below_written(view->settings, path)) {
        close(descriptor);
        return 0;
    }
    view->places[view->count++] = (place){path, use, descriptor, is_asked};
    return 0;
}

/** Makes the directories that lead to a path, and at the path a directory or a file to mount on. */
static int make_target(char *path, size_t from, int is_directory) {
    for (char *end = path + from + 1; *end != 0; end++) {
        if (*end != '/') continue;
        *end = 0;
        const int result = mkdir(path, 0755);
        *end = '/';
        if (result != 0 && errno != EEXIST) return errno;
    }
    if (is_directory) return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : errno;
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    /* One that already exists may be read-only, and will do. */
    return file >= 0 || errno == EROFS || errno == EACCES ? 0 : errno;
}

/** Mounts a place into the view. */
static int show(const view *view, const place *place) {
    struct {
        uint64_t set, clear, propagation, namespace;
    } attributes = {0};
    char source[32], target[PATH_MAX];
    struct stat status;
    if (fstat(place->descriptor, &status) != 0) return errno;
    snprintf(source, sizeof source, "/proc/self/fd/%d", place->descriptor);
    if (snprintf(target, sizeof target, "%s%s", view->base, place->path) >= (int)sizeof target) return ENAMETOOLONG;
    const int error = make_target(target, strlen(view->base), S_ISDIR(status.st_mode));
    if (error != 0) return error;
    if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) != 0) return errno;
    attributes.set = 2; /* no set-user-id */
    if (place->use != place_device) attributes.set |= 4; /* no devices */
    if (place->use == place_reads) attributes.set |= 1; /* read-only */
    if (syscall(CALL_SET_ATTRIBUTES, AT_FDCWD, target, RECURSIVELY, &attributes, sizeof attributes) == 0) return 0;
    if (errno != ENOSYS) return errno;
    /* Before Linux 5.12: this mount alone, not those below it. */
    const unsigned long flags = MS_NOSUID | (place->use != place_device ? MS_NODEV : 0) | (place->use == place_reads ? MS_RDONLY : 0);
    return mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | flags, NULL) == 0 ? 0 : errno;
}

static int show_processes(const view *view) {
    char target[PATH_MAX];
    snprintf(target, sizeof target, "%s/proc", view->base);
    if (mkdir(target, 0555) != 0 && errno != EEXIST) return errno;
    return mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ? 0 : errno;
}

/** Whether a place is the root, and with it shows the /proc of the host. */
static int is_root(const place *place) {
    struct stat status, root;
    if (fstat(place->descriptor, &status) != 0 || stat("/", &root) != 0) return 0;
    return status.st_dev == root.st_dev && status.st_ino == root.st_ino;
}

/** Mounts an empty file system over an existing directory. By its name, plugins know that it is no disk. */
static int make_base(view *view) {
    static const char *const candidates[] = {"/tmp", "/run", "/mnt", "/var", "/"};
    int error = ENOENT;
    for (size_t index = 0; index < sizeof candidates / sizeof *candidates; index++) {
        view->base = candidates[index];
        if (mount("connector-sandbox", view->base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") == 0) return 0;
        error = errno;
    }
    return error;
}

/** Makes the view the only root; the old root stays underneath until it is unmounted. */
static int enter(const view *view) {
    if (chdir(view->base) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return errno;
    if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return errno;
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) == 0 ? 0 : errno;
}

static int make(view *view, const sandbox_settings *settings, const char **what) {
    int error;
    *what = "mounts";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
    *what = NULL;
    if ((error = sandbox_each_place(settings, open_place, view)) != 0) return error;
    *what = "an empty file system";
    if ((error = make_base(view)) != 0) return error;
    *what = "a /proc of its own";
    if ((error = show_processes(view)) == 0) {
        *what = NULL;
        for (int index = 0; index < view->count && error == 0; index++) {
            view->path = view->places[index].path;
            error = show(view, &view->places[index]);
            if (error == 0 && is_root(&view->places[index])) {
                *what = "a /proc of its own";
                if ((error = show_processes(view)) != 0) break;
                *what = NULL;
            }
            if (error == 0 || !view->places[index].is_asked) continue;
            sandbox_leaves_out(view->outcome, view->path);
            error = 0;
        }
    }
    if (error == 0) {
        *what = "the new root";
        return enter(view);
    }
    umount2(view->base, MNT_DETACH);
    return error;
}

void sandbox_make_view(const sandbox_settings *settings, sandbox_outcome *outcome) {
    view view = {.settings = settings, .count = 0, .outcome = outcome};
    const char *what;
    const int error = make(&view, settings, &what);
    for (int index = 0; index < view.count; index++) close(view.places[index].descriptor);
    if (error == 0) return;
    char text[sizeof outcome->detail];
    snprintf(text, sizeof text, "no mount of %s", what != NULL ? what : view.path);
    sandbox_fails(outcome, text, error);
}
#endif
