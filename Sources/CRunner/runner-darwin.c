/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runner-darwin.c: runner.h for macOS.
 */
#include "runner.h"

#ifdef __APPLE__
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <os/os_sync_wait_on_address.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/** The most arguments that a runner takes. */
#define ARGUMENT_COUNT 512

/** The host of this process; 0 if it is not a runner. Set before there is a second thread. */
static pid_t host = 0;

/** Makes a kqueue readable once a child has ended, which may be so already. Returns 0, or an errno. */
static int watch_child(int queue, pid_t child) {
    struct kevent event;
    EV_SET(&event, (uintptr_t)child, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
    if (kevent(queue, &event, 1, NULL, 0, NULL) == 0) return 0;
    if (errno != ESRCH) return errno;
    EV_SET(&event, (uintptr_t)child, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, NULL);
    return kevent(queue, &event, 1, NULL, 0, NULL) == 0 ? 0 : errno;
}

/** Whether the process of a descriptor of runner_take_over has ended. Reads no event, so the descriptor stays readable. */
static int has_ended(int process) {
    struct pollfd entry = {.fd = process, .events = POLLIN};
    return poll(&entry, 1, 0) > 0;
}

int32_t runner_spawn(
    int32_t program, const char *path, int32_t socket, int32_t output, const char *const *given, const char *variable,
    int32_t *handover, int32_t *step
) {
    (void)program;
    posix_spawn_file_actions_t actions = NULL;
    posix_spawnattr_t attributes = NULL;
    sigset_t signals;
    pid_t child = -1;
    char *arguments[ARGUMENT_COUNT + 2] = {"connector-runner"};
    int count = 0;
    *step = RUNNER_STARTS_PROGRAM;
    for (; given[count] != NULL; count++) {
        if (count == ARGUMENT_COUNT) return -E2BIG;
        arguments[count + 1] = (char *)given[count];
    }
    char *const environment[] = {"SWIFT_BACKTRACE=enable=no", variable[0] != 0 ? (char *)variable : NULL, NULL};
    /* Here, and not in the child, whose error would not say what failed. */
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int error = nothing < 0 ? errno : 0;
    if (error != 0 && error != EMFILE && error != ENFILE) *step = RUNNER_OPENS_NULL;
    /* Above the numbers that the child will use. */
    const int input = error == 0 ? fcntl(nothing, F_DUPFD_CLOEXEC, 16) : -1;
    const int end = fcntl(socket, F_DUPFD_CLOEXEC, 16);
    const int lines = fcntl(output, F_DUPFD_CLOEXEC, 16);
    /* Closed on exec, as every kqueue is. */
    const int queue = error == 0 ? kqueue() : -1;
    if (error == 0 && (input < 0 || end < 0 || lines < 0 || queue < 0)) error = errno;
    if (nothing >= 0) close(nothing);
    if (error == 0) error = posix_spawn_file_actions_init(&actions);
    if (error == 0) error = posix_spawnattr_init(&attributes);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, lines, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, lines, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, end, RUNNER_SOCKET);
    if (error == 0) {
        /* A process group of its own: the keys of a terminal end the host, and the host ends its runners. */
        const int flags =
            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT;
        posix_spawnattr_setflags(&attributes, (short)flags);
        posix_spawnattr_setpgroup(&attributes, 0);
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        error = posix_spawn(&child, path, &actions, &attributes, arguments, environment);
    }
    if (error == 0) {
        error = watch_child(queue, child);
        if (error != 0) {
            kill(child, SIGKILL);
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        }
    }
    if (attributes != NULL) posix_spawnattr_destroy(&attributes);
    if (actions != NULL) posix_spawn_file_actions_destroy(&actions);
    if (input >= 0) close(input);
    if (end >= 0) close(end);
    if (lines >= 0) close(lines);
    if (error != 0) {
        if (queue >= 0) close(queue);
        return -error;
    }
    *handover = queue;
    return child;
}

/* There are no namespaces, so no process takes another's place. */
int32_t runner_take_over(int32_t child, int32_t *handover, int32_t milliseconds, int32_t *process) {
    (void)milliseconds;
    *process = *handover;
    *handover = -1;
    return child;
}

void runner_abandon(int32_t child, int32_t handover) {
    close(handover);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

/* No signal informs a process that its parent has ended: runner_watch does. */
int32_t runner_die_with(int32_t parent) {
    host = parent;
    return getppid() == parent ? 0 : -ESRCH;
}

void runner_set_name(const char *name) { pthread_setname_np(name); }

int32_t runner_socket_pair(int32_t *first, int32_t *second) {
    int ends[2];
    const int yes = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -errno;
    int is_ready = 1;
    for (int index = 0; index < 2; index++) {
        is_ready = is_ready && fcntl(ends[index], F_SETFD, FD_CLOEXEC) == 0
            && setsockopt(ends[index], SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes) == 0;
    }
    /* The host never waits, and a thread that sends waits for room in spite of MSG_DONTWAIT. */
    if (!is_ready || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    *first = ends[0];
    *second = ends[1];
    return 0;
}

int32_t runner_reap(int32_t process, int32_t number, int32_t *status, int32_t *signal) {
    int state = 0;
    pid_t found;
    *status = 0;
    *signal = 0;
    /* The event comes shortly before the process can be reaped. */
    const int options = has_ended(process) ? 0 : WNOHANG;
    do {
        found = waitpid(number, &state, options);
    } while (found < 0 && errno == EINTR);
    if (found < 0) return -errno;
    if (found == 0) return 0;
    if (WIFSIGNALED(state)) {
        *signal = WTERMSIG(state);
    } else {
        *status = WEXITSTATUS(state);
    }
    return 1;
}

int32_t runner_kill(int32_t process, int32_t number) {
    if (has_ended(process)) return -ESRCH;
    return kill(number, SIGKILL) == 0 ? 0 : -errno;
}

int32_t runner_memory(uint64_t size) {
    uint64_t number;
    char name[32];
    arc4random_buf(&number, sizeof number);
    snprintf(name, sizeof name, "/connector-%016llx", (unsigned long long)number);
    const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0) return -errno;
    /* From here on, only the descriptor leads to it. */
    shm_unlink(name);
    if (ftruncate(file, (off_t)size) == 0) return file;
    const int error = errno;
    close(file);
    return -error;
}

void *runner_map(int32_t descriptor, uint64_t size) {
    const uint64_t page = (uint64_t)getpagesize();
    const off_t whole = (off_t)((size + page - 1) / page * page);
    struct stat state;
    if (fstat(descriptor, &state) != 0 || state.st_size != whole) return NULL;
    /* The kernel lets the size of a shared memory object be set once. Anything else that can be mapped would take it here. */
    if (ftruncate(descriptor, whole) == 0 || errno != EINVAL) return NULL;
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return address == MAP_FAILED ? NULL : address;
}

int32_t runner_wait(const void *word, uint32_t value, uint64_t nanoseconds) {
    void *address = (void *)word;
    int count = 0;
    if (nanoseconds == UINT64_MAX) {
        count = os_sync_wait_on_address(address, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_SHARED);
    } else if (nanoseconds > 0) {
        count = os_sync_wait_on_address_with_timeout(
            address, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds);
    }
    if (count >= 0) return 0;
    return errno == EINTR || errno == ETIMEDOUT || errno == EFAULT || errno == ENOMEM ? 0 : -errno;
}

int32_t runner_wake(const void *word) {
    /* Wakes all: a thread of the other process that also sleeps there must not consume the only wake-up. */
    if (os_sync_wake_by_address_all((void *)word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_SHARED) >= 0) return 1;
    return errno == ENOENT ? 0 : -errno;
}

int32_t runner_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (int32_t)count : 1;
}

/* `udata` says whether what has arrived counts; otherwise the thread looks only at the end of the socket and of the host. */
int32_t runner_watch(int32_t socket, int32_t reads) {
    struct kevent events[2];
    int count = 1;
    const int watch = kqueue();
    if (watch < 0) return -errno;
    if (reads) {
        EV_SET(&events[0], (uintptr_t)socket, EVFILT_READ, EV_ADD, 0, 0, &host);
    } else {
        EV_SET(&events[0], (uintptr_t)socket, EVFILT_READ, EV_ADD | EV_CLEAR, NOTE_LOWAT, INT_MAX, NULL);
        if (host != 0) EV_SET(&events[count++], (uintptr_t)host, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
    }
    int error = kevent(watch, events, count, NULL, 0, NULL) == 0 ? 0 : errno;
    /* The host may have ended before that, and another process have its number. */
    if (error == 0 && host != 0 && getppid() != host) error = ESRCH;
    if (error == 0) return watch;
    close(watch);
    return -error;
}

int32_t runner_await(int32_t watch) {
    struct kevent event;
    for (;;) {
        const int count = kevent(watch, NULL, 0, &event, 1, NULL);
        if (count < 0 && errno != EINTR) return -errno;
        if (count <= 0) continue;
        if (event.udata != NULL || event.filter == EVFILT_PROC || (event.flags & EV_EOF) != 0) return 0;
    }
}
#endif
