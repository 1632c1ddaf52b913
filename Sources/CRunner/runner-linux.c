/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runner-linux.c: runner.h for Linux.
 */
#define _GNU_SOURCE

#include "runner.h"

#include <errno.h>

#ifdef __linux__
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From linux/wait.h; glibc has it since 2.36. */
#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
/* Since Linux 6.16; headers may be older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/** The most arguments that a runner takes. */
#define ARGUMENT_COUNT 512

/** Waits until there is something to read or the other end is closed. Returns whether that was in time. */
static int await_bytes(int end, int milliseconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t limit = now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
    for (;;) {
        struct pollfd entry = {.fd = end, .events = POLLIN};
        clock_gettime(CLOCK_MONOTONIC, &now);
        const int64_t left = limit - (now.tv_sec * 1000 + now.tv_nsec / 1000000);
        const int count = poll(&entry, 1, left > 0 ? (int)left : 0);
        if (count > 0) return 1;
        if (count == 0 || errno != EINTR) return 0;
    }
}

int32_t runner_spawn(
    int32_t program, const char *path, int32_t socket, int32_t output, const char *const *given, const char *variable,
    int32_t *handover, int32_t *step
) {
    (void)path;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    pid_t child = -1;
    char *arguments[ARGUMENT_COUNT + 2] = {"connector-runner"};
    int ends[2] = {-1, -1}, count = 0;
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
    int input = error == 0 ? fcntl(nothing, F_DUPFD_CLOEXEC, 16) : -1;
    int own = fcntl(program, F_DUPFD_CLOEXEC, 16);
    int end = fcntl(socket, F_DUPFD_CLOEXEC, 16);
    int lines = fcntl(output, F_DUPFD_CLOEXEC, 16);
    if (error == 0 && (input < 0 || own < 0 || end < 0 || lines < 0)) error = errno;
    /* Each message is read as a whole. */
    if (error == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) error = errno;
    int successor = error == 0 ? fcntl(ends[1], F_DUPFD_CLOEXEC, 16) : -1;
    if (error == 0 && successor < 0) error = errno;
    if (nothing >= 0) close(nothing);
    if (ends[1] >= 0) close(ends[1]);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, lines, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, lines, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, end, RUNNER_SOCKET);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, own, RUNNER_SOCKET + 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, successor, RUNNER_SUCCESSOR);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, RUNNER_SUCCESSOR + 1);
    /* A process group of its own: the keys of a terminal end the host, and the host ends its runners. */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    if (error == 0) error = posix_spawn(&child, "/proc/self/fd/4", &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (input >= 0) close(input);
    if (own >= 0) close(own);
    if (end >= 0) close(end);
    if (lines >= 0) close(lines);
    if (successor >= 0) close(successor);
    if (error != 0) {
        if (ends[0] >= 0) close(ends[0]);
        return -error;
    }
    *handover = ends[0];
    return child;
}

int32_t runner_take_over(int32_t child, int32_t *handover, int32_t milliseconds, int32_t *process) {
    int32_t number = 0;
    ssize_t count;
    if (!await_bytes(*handover, milliseconds)) {
        runner_abandon(child, *handover);
        return -ETIMEDOUT;
    }
    do {
        count = read(*handover, &number, sizeof number);
    } while (count < 0 && errno == EINTR);
    if (count == (ssize_t)sizeof number && number > 0) {
        /* The first process has exited, or is about to. */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    } else {
        number = child;
    }
    /* The process is not reaped yet, so its number cannot have been reused; unless the system has reaped it, as it does where SIGCHLD
     * is ignored, and says that there is no such process. */
    *process = (int32_t)syscall(SYS_pidfd_open, number, 0);
    if (*process >= 0) return number;
    const int error = errno;
    close(*handover);
    if (error != ESRCH) {
        kill(number, SIGKILL);
        while (waitpid(number, NULL, 0) < 0 && errno == EINTR) {}
    }
    return -error;
}

void runner_abandon(int32_t child, int32_t handover) {
    close(handover);
    /* A successor is in the child's process group, too. */
    kill(-child, SIGKILL);
    while (waitpid(-child, NULL, 0) > 0 || errno == EINTR) {}
}

int32_t runner_die_with(int32_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return -errno;
    /* The parent may have ended before that. */
    return getppid() == parent ? 0 : -ESRCH;
}

void runner_set_name(const char *name) { prctl(PR_SET_NAME, name); }

int32_t runner_socket_pair(int32_t *first, int32_t *second) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    /* Closing a descriptor that arrives may take as long as its sender wants. Older kernels have no such option. */
    const int no = 0;
    (void)setsockopt(ends[0], SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no);
    *first = ends[0];
    *second = ends[1];
    return 0;
}

int32_t runner_reap(int32_t process, int32_t number, int32_t *status, int32_t *signal) {
    (void)number;
    siginfo_t information;
    memset(&information, 0, sizeof information);
    *status = 0;
    *signal = 0;
    if (waitid((idtype_t)P_PIDFD, (id_t)process, &information, WEXITED | WNOHANG) != 0) return -errno;
    if (information.si_pid == 0) return 0;
    if (information.si_code == CLD_EXITED) {
        *status = information.si_status;
    } else {
        *signal = information.si_status;
    }
    return 1;
}

int32_t runner_kill(int32_t process, int32_t number) {
    (void)number;
    return syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) == 0 ? 0 : -errno;
}

static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int32_t runner_memory(uint64_t size) {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create("connector-runner", flags);
    /* Some kernels with vm.memfd_noexec=2 refuse a file without the flag. */
    if (file < 0 && (errno == EACCES || errno == EINVAL)) file = memfd_create("connector-runner", flags | MFD_NOEXEC_SEAL);
    if (file < 0) return -errno;
    int error = posix_fallocate(file, 0, (off_t)size);
    if (error == 0 && fcntl(file, F_ADD_SEALS, seals) != 0) error = errno;
    if (error == 0) return file;
    close(file);
    return -error;
}

void *runner_map(int32_t descriptor, uint64_t size) {
    struct stat state;
    if (fstat(descriptor, &state) != 0 || state.st_size != (off_t)size) return NULL;
    const int found = fcntl(descriptor, F_GET_SEALS);
    if (found < 0 || (found & seals) != seals) return NULL;
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return address == MAP_FAILED ? NULL : address;
}

/* Without FUTEX_PRIVATE_FLAG: the other thread is in another process. */
int32_t runner_wait(const void *word, uint32_t value, uint64_t nanoseconds) {
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    struct timespec *limit = nanoseconds == UINT64_MAX ? NULL : &time;
    if (syscall(SYS_futex, word, FUTEX_WAIT, value, limit, NULL, 0) == 0) return 0;
    return errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT ? 0 : -errno;
}

int32_t runner_wake(const void *word) {
    /* Wakes all: a thread of the other process that also sleeps there must not consume the only wake-up. */
    long count = syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return count >= 0 ? (int32_t)count : -errno;
}

int32_t runner_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 1 ? count : 1;
}

/* By epoll: a thread in poll or recvmsg would keep a socket open that another one closes, and the host would not notice. */
int32_t runner_watch(int32_t socket, int32_t reads) {
    struct epoll_event event = {.events = reads ? EPOLLIN : 0};
    int watch = epoll_create1(EPOLL_CLOEXEC);
    if (watch < 0) return -errno;
    if (epoll_ctl(watch, EPOLL_CTL_ADD, socket, &event) == 0) return watch;
    int error = errno;
    close(watch);
    return -error;
}

int32_t runner_await(int32_t watch) {
    struct epoll_event event;
    for (;;) {
        if (epoll_wait(watch, &event, 1, -1) > 0) return 0;
        if (errno != EINTR) return -errno;
    }
}
#endif
