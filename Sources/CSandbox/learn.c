/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that refuses nothing, and is asked about everything that a sandbox would refuse: seccomp_unotify(2). It lets each call
 * continue, and prints the settings whenever they have grown: the last such line is what belongs in the file. It allocates nothing
 * and takes no lock, because a thread that waits for it may hold any.
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
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/** What the thread needs for as long as the process lasts: copies, since the settings are borrowed. */
static struct {
    int listener;
    /** Whether the plugin has made a socket, of any family. */
    int has_socket;
    sandbox_settings settings;
    learned learned;
} lesson;

#define SAY(number, ...) learned_say(&lesson.learned, number, __VA_ARGS__)

static ssize_t read_memory(pid_t process, uint64_t address, void *bytes, size_t count) {
    struct iovec here = {bytes, count}, there = {(void *)(uintptr_t)address, count};
    return process_vm_readv(process, &here, 1, &there, 1, 0);
}

/** Reads a text, page by page: the next page may not be mapped. */
static int read_text(pid_t process, uint64_t address, char *text, size_t capacity) {
    size_t length = 0;
    while (length < capacity) {
        const size_t left = 4096 - (size_t)((address + length) % 4096), room = capacity - length;
        const ssize_t count = read_memory(process, address + length, text + length, left < room ? left : room);
        if (count <= 0) return 0;
        if (memchr(text + length, 0, (size_t)count) != NULL) return 1;
        length += (size_t)count;
    }
    return 0;
}

/** Whether the call is still waiting. If it is not, its thread may be gone, and what was read may be another thread's. */
static int still_waits(const struct seccomp_notif *asked) {
    uint64_t id = asked->id;
    return ioctl(lesson.listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/** Reads the path from which a relative one starts, or that of an open file; 0 for a pipe, a socket, and a file without a name. */
static int read_base(const struct seccomp_notif *asked, int directory, char *base, size_t capacity) {
    char link[64];
    struct stat status;
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", (int)asked->pid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)asked->pid, directory);
    const ssize_t length = readlink(link, base, capacity - 1);
    if (length <= 0 || base[0] != '/') return 0;
    base[length] = 0;
    return lstat(base, &status) == 0;
}

/** Reads the absolute path of a file that a call names. */
static int read_path(const struct seccomp_notif *asked, const int8_t file[2], char *path, size_t capacity) {
    char name[PATH_MAX], base[PATH_MAX] = "";
    const int directory = file[0] < 0 ? AT_FDCWD : (int)asked->data.args[file[0]];
    const uint64_t address = file[1] < 0 ? 0 : asked->data.args[file[1]];
    name[0] = 0;
    if (address != 0 && !read_text((pid_t)asked->pid, address, name, sizeof name)) return 0;
    if (name[0] == 0 && directory == AT_FDCWD) return 0;
    if (name[0] != '/' && !read_base(asked, directory, base, sizeof base)) return 0;
    return learned_path(base, name, path, capacity) && still_waits(asked);
}

/** The use of a place plus one, if a path is that place or below it; else 0. */
static int use_of(void *context, const char *place, place_use use, int is_asked) {
    (void)is_asked;
    return learned_is_below(context, place) ? (int)use + 1 : 0;
}

/** Whether a plugin may read a path whatever its settings say, or may write it. */
static int may_be_read(char *path) {
    return learned_is_below(path, "/proc")
        || learned_covers(&lesson.learned.write, path) || sandbox_each_place(&lesson.settings, use_of, path) != 0;
}

static int refuse_device(void) {
    return SAY(learned_devices, "no setting of the sandbox allows devices but /dev/null, zero, full, random and urandom\n");
}

static int learn_read(char *path) {
    struct stat status;
    /* A file that does not exist here does not exist in the sandbox, either. */
    if (may_be_read(path) || stat(path, &status) != 0) return 0;
    if (learned_is_device(path)) return refuse_device();
    if (strcmp(path, "/") != 0) return learned_keep(&lesson.learned, "read", path);
    return SAY(learned_root, "/ is not learned: whoever may read it may read everything\n");
}

/** Learns the directory around a written path, since the next file will have another name. */
static int learn_written(char *path, int changes_names) {
    struct stat status;
    if (!learned_leave_proc(path)) return 0;
    if (learned_is_below(path, "/proc")) {
        /* The name of a thread, which libraries write, and can do without. */
        const char *slash = strrchr(path, '/');
        if (slash != NULL && strcmp(slash, "/comm") == 0) return 0;
        return SAY(learned_proc, "no setting of the sandbox allows writing below /proc\n");
    }
    if (sandbox_each_place(&lesson.settings, use_of, path) == place_device + 1) {
        if (lesson.learned.write.count > 0) return 0;
        return SAY(learned_null, "the sandbox allows writing %s only if there is a path under \"write\"\n", path);
    }
    if (learned_is_device(path)) return refuse_device();
    char *slash = strrchr(path, '/');
    const int is_directory = !changes_names && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_directory && slash != path) {
        *slash = 0;
        /* Without its directory, nothing is made. A plugin that then makes the directory comes here again. */
        if (stat(path, &status) != 0) return 0;
    }
    return strcmp(path, "/") != 0 && learned_keep(&lesson.learned, "write", path);
}

static int learn_files(const struct seccomp_notif *asked, const learned_call *call) {
    char path[PATH_MAX];
    uint64_t flags = call->flags == LEARNED_READS ? 0 : SANDBOX_WRITE_FLAGS;
    int grows = 0;
    if (call->flags >= 0) flags = asked->data.args[call->flags];
    if (call->is_pointer && read_memory((pid_t)asked->pid, flags, &flags, sizeof flags) != sizeof flags) return 0;
    for (int index = 0; index < 2; index++) {
        const int8_t *file = call->files[index];
        if ((file[0] < 0 && file[1] < 0) || !read_path(asked, file, path, sizeof path)) continue;
        grows |= (flags & SANDBOX_WRITE_FLAGS) != 0 ? learn_written(path, call->changes_names) : learn_read(path);
    }
    return grows;
}

static int forget(void *context, const char *place, place_use use, int is_asked) {
    (void)context, (void)use, (void)is_asked;
    learned_remove(&lesson.learned.read, place);
    return 0;
}

static int learn_socket(uint32_t family, const sandbox_check *check) {
    lesson.has_socket = 1;
    for (uint32_t index = 0; index < check->count; index++) {
        if (check->values[index] != family) continue;
        if (lesson.learned.network) return 0;
        /* With the network come the files for host names, which were looked up first. */
        lesson.learned.network = lesson.settings.network = 1;
        sandbox_each_place(&lesson.settings, forget, NULL);
        return 1;
    }
    return learned_say_family(&lesson.learned, family);
}

/** Handles a call, and returns whether something new was learned. */
static int learn(const struct seccomp_notif *asked) {
    const sandbox_rule *rule = sandbox_rule_of(asked->data.nr);
    if (rule == NULL) return 0;
    const learned_call *call = learned_call_of(rule->name);
    if (call != NULL || rule->when == SANDBOX_NETWORK) {
        /* A process that the plugin has started needs no settings: none would let it start one. */
        if (syscall(SYS_tgkill, getpid(), (pid_t)asked->pid, 0) != 0) return 0;
        if (call != NULL) return learn_files(asked, call);
        if (rule->check != NULL) return learn_socket((uint32_t)asked->data.args[0], rule->check);
        /* With the network only SO_LINGER is asked about, which programs can do without. */
        if (lesson.has_socket || lesson.learned.network) return 0;
        /* One of a pair, or one that already existed. */
        return SAY(asked->data.nr, "the sandbox allows %s only with \"network\"\n", rule->name);
    }
    if (rule->when == SANDBOX_NAMING) {
        /* The filter that asks knows only the paths that the settings had at first. */
        if (lesson.learned.read.count + lesson.learned.write.count > 0) return 0;
        return SAY(asked->data.nr, "the sandbox allows %s only if there is a path under \"read\" or \"write\"\n", rule->name);
    }
    /* The C library falls back. */
    if (rule->refusal == ENOSYS || rule->when == SANDBOX_LOADING) return 0;
    return SAY(asked->data.nr, "no setting of the sandbox allows %s: it %s\n", rule->name, rule->reason);
}

static void *supervise(void) {
    for (;;) {
        sandbox_notice question = {.room = {0}}, reply = {.room = {0}};
        if (ioctl(lesson.listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) {
            /* ENOENT: the thread that asked was interrupted. */
            if (errno == EINTR || errno == ENOENT) continue;
            return NULL;
        }
        if (learn(&question.asked)) learned_print(&lesson.learned);
        reply.answer.id = question.asked.id;
        reply.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(lesson.listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    }
}

/** Waits until the filter that asks is installed, which this thread does not have itself. */
static void *await_filter(void *context) {
    char byte;
    const int end = *(int *)context;
    sigset_t all;
    /* A handler of the plugin on this thread might wait for a thread that waits for this one. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    const ssize_t count = read(end, &byte, 1);
    close(end);
    return count == 1 ? supervise() : NULL;
}

static void add_all(const char *key, const char *const *added) {
    for (; added != NULL && *added != NULL; added++) learned_keep(&lesson.learned, key, *added);
}

int32_t sandbox_learn(const sandbox_settings *settings, int32_t output) {
    static int ends[2];
    pthread_t thread;
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    lesson.learned.output = output;
    lesson.settings.network = settings->network;
    lesson.learned.network = (int)settings->network;
    add_all("read", settings->read);
    add_all("write", settings->write);
    /* Lists what is mapped now: later the list would include the plugin's libraries, and need a lock of the linker. */
    sandbox_each_place(&lesson.settings, use_of, "");
    int error = pthread_create(&thread, NULL, await_filter, &ends[0]);
    if (error != 0) {
        close(ends[0]);
    } else {
        /* A filter for a plugin that may write somewhere would not ask about writing elsewhere. */
        sandbox_settings asked = *settings;
        asked.write = NULL;
        lesson.listener = sandbox_filter_ask(&asked, SANDBOX_ASKS_ALL);
        error = lesson.listener < 0 ? -lesson.listener : write(ends[1], "", 1) == 1 ? 0 : errno;
    }
    close(ends[1]);
    return error;
}
#else
#include <errno.h>

int32_t sandbox_learn(const sandbox_settings *settings, int32_t output) { return (void)settings, (void)output, ENOTSUP; }
#endif
