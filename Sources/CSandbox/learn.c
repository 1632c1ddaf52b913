/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that refuses nothing, and is asked about everything that would be refused: seccomp_unotify(2). It lets each call continue, and
 * prints the settings whenever they have grown: the last such line is what the file should say. It allocates nothing, since a
 * thread that waits for it may hold any lock.
 */
#define _GNU_SOURCE

#include <sandbox.h>

#ifdef __linux__
#include "filter.h"
#include "learning.h"
#include "places.h"
#include "rules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/** The write flags of open(2): O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE. */
#define WRITE_FLAGS 0x400243u

static void say(int output, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t count = write(output, text, length);
        if (count <= 0) return;
        text += count;
        length -= (size_t)count;
    }
}

/** Reads a text, page by page: the next one may not be there. */
static int read_text(pid_t process, uint64_t address, char *text, size_t capacity) {
    size_t length = 0;
    while (length + 1 < capacity) {
        const size_t left = 4096 - (size_t)((address + length) % 4096), room = capacity - 1 - length;
        struct iovec here = {text + length, left < room ? left : room};
        struct iovec there = {(void *)(uintptr_t)(address + length), here.iov_len};
        const ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
        if (count <= 0) return 0;
        const char *end = memchr(text + length, 0, (size_t)count);
        if (end != NULL) return 1;
        length += (size_t)count;
    }
    return 0;
}

/** An argument that is a path, absolute. */
static int read_path(const struct seccomp_notif *asked, int argument, int is_relative, char *path, size_t capacity) {
    char name[PATH_MAX], link[64], base[PATH_MAX];
    if (!read_text((pid_t)asked->pid, asked->data.args[argument], name, sizeof name) || name[0] == 0) return 0;
    if (name[0] == '/') return snprintf(path, capacity, "%s", name) < (int)capacity;
    const int directory = is_relative ? (int)asked->data.args[argument - 1] : AT_FDCWD;
    if (directory == AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)asked->pid);
    } else {
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)asked->pid, directory);
    }
    const ssize_t length = readlink(link, base, sizeof base - 1);
    if (length <= 0) return 0;
    base[length] = 0;
    return snprintf(path, capacity, "%s/%s", base, name) < (int)capacity;
}

static int is_below(void *context, const char *place, place_use use, int is_asked) {
    const char *path = context;
    const size_t length = strlen(place);
    (void)use, (void)is_asked;
    return strncmp(place, path, length) == 0 && (path[length] == 0 || path[length] == '/');
}

/** What the thread needs, for as long as the process lasts: copies, since the settings are borrowed. */
static struct {
    int listener, output;
    sandbox_settings settings;
    learned_paths libraries;
    learned learned;
    char text[2 * LEARNED_COUNT * 520];
} lesson;

/** Whether a plugin may read a path whatever its settings say, or may write it. */
static int may_be_read(char *path) {
    return is_below(path, "/proc", place_reads, 0) || learned_covers(&lesson.libraries, path)
        || learned_covers(&lesson.learned.write, path) || sandbox_each_place(&lesson.settings, is_below, path);
}

/** A path that is written: the directory around it, since the next file has another name. */
static int learn_written(char *path) {
    char *slash = strrchr(path, '/');
    struct stat status;
    if (is_below(path, "/dev", place_device, 0)) return 0;
    if (slash != NULL && slash != path && !(stat(path, &status) == 0 && S_ISDIR(status.st_mode))) *slash = 0;
    return learned_add(&lesson.learned.write, path);
}

static int learn_opened(const struct seccomp_notif *asked, int argument) {
    char path[PATH_MAX];
    struct stat status;
    if (!read_path(asked, argument, argument == 1, path, sizeof path)) return 0;
    if ((asked->data.args[argument + 1] & WRITE_FLAGS) != 0) return learn_written(path);
    if (may_be_read(path) || stat(path, &status) != 0) return 0;
    return learned_add(&lesson.learned.read, path);
}

/** Whether something new was learned. */
static int learn(const struct seccomp_notif *asked) {
    const sandbox_rule *rule = sandbox_rule_of(asked->data.nr);
    char path[PATH_MAX], line[256];
    if (rule == NULL) return 0;
    const size_t length = strlen(rule->name);
    if (strcmp(rule->name, "open") == 0) return learn_opened(asked, 0);
    if (strcmp(rule->name, "openat") == 0) return learn_opened(asked, 1);
    if (rule->when == SANDBOX_WRITING) {
        const int is_relative = strcmp(rule->name + length - 2, "at") == 0;
        if (rule->name[0] == 'f' && !is_relative) return 0; /* a descriptor's, which was opened for it */
        return read_path(asked, is_relative, is_relative, path, sizeof path) && learn_written(path);
    }
    if (rule->when == SANDBOX_NETWORK) {
        const uint64_t family = asked->data.args[0];
        if (strcmp(rule->name, "socket") != 0 || (family != AF_INET && family != AF_INET6)) return 0;
        if (lesson.learned.network) return 0;
        return lesson.learned.network = 1;
    }
    /* The C library falls back. */
    if (rule->refusal == ENOSYS || rule->when == SANDBOX_LOADING || !learned_refuse(&lesson.learned, asked->data.nr)) return 0;
    const int count = snprintf(line, sizeof line, "no setting of the sandbox allows %s: it %s\n", rule->name, rule->reason);
    say(lesson.output, line, (size_t)count);
    return 0;
}

static void *supervise(void *context) {
    (void)context;
    for (;;) {
        struct seccomp_notif asked;
        memset(&asked, 0, sizeof asked);
        if (ioctl(lesson.listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
            /* ENOENT: the thread that asked was interrupted. */
            if (errno == EINTR || errno == ENOENT) continue;
            return NULL;
        }
        if (learn(&asked)) {
            say(lesson.output, lesson.text, learned_text(&lesson.learned, lesson.text, sizeof lesson.text));
        }
        struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ioctl(lesson.listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/** Waits for the filter that asks, which it does not have itself. */
static void *await_filter(void *context) {
    char byte;
    const int end = *(int *)context;
    const ssize_t count = read(end, &byte, 1);
    close(end);
    return count == 1 ? supervise(NULL) : NULL;
}

static void add_all(learned_paths *paths, const char *const *added) {
    for (; added != NULL && *added != NULL; added++) learned_add(paths, *added);
}

int32_t sandbox_learn(const sandbox_settings *settings, int32_t output) {
    static int ends[2];
    pthread_t thread;
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    lesson.output = output;
    lesson.settings.network = settings->network;
    lesson.learned.network = (int)settings->network;
    add_all(&lesson.libraries, settings->libraries);
    add_all(&lesson.learned.read, settings->read);
    add_all(&lesson.learned.write, settings->write);
    int error = pthread_create(&thread, NULL, await_filter, &ends[0]);
    if (error == 0) {
        lesson.listener = sandbox_filter_ask(settings);
        if (lesson.listener < 0) {
            error = -lesson.listener;
        } else {
            error = write(ends[1], "", 1) == 1 ? 0 : errno;
        }
    }
    close(ends[1]);
    return error;
}
#else
#include <errno.h>

int32_t sandbox_learn(const sandbox_settings *settings, int32_t output) { return (void)settings, (void)output, ENOTSUP; }
#endif
