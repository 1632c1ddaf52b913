/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tries what is forbidden: what a sandbox claims to do counts for nothing. Each attempt gives 0 if it succeeded.
 */
#define _GNU_SOURCE

#include <sandbox.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_IO_URING_SETUP 425
#define CALL_PIDFD_OPEN 434
/** setxattrat of Linux 6.13, which is newer than the table. */
#define CALL_NEWER 463
#define FAMILY_COUNT 46

static int opens(const char *path, int flags) {
    const int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

/** Whether the settings name a file, or a directory above it. */
static int is_named(const char *const *paths, const char *path) {
    for (; paths != NULL && *paths != NULL; paths++) {
        const size_t length = strlen(*paths);
        if (strncmp(*paths, path, length) == 0 && (path[length] == 0 || path[length] == '/' || length == 1)) return 1;
    }
    return 0;
}

/** Reads from a file of the host in /proc. */
static int reads_host(int32_t host, const char *name) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/%s", host, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    /* Address 0 is never mapped: EIO means that the read was allowed. */
    const ssize_t count = read(file, &byte, 1);
    const int error = count >= 0 || errno == EIO ? 0 : errno;
    close(file);
    return error;
}

/**
 * Makes a socket of any family and kind. Gives 0 if one can be made, else the errno of the first one that cannot. Where a policy
 * refuses a family, it does so whatever the kind; other errors mean that the family has no such kind.
 */
static int makes_socket(int is_internet_allowed) {
    int error = 0;
    for (int family = AF_UNIX; family < FAMILY_COUNT; family++) {
        if (is_internet_allowed && (family == AF_INET || family == AF_INET6 || family == AF_NETLINK)) continue;
        for (int kind = SOCK_STREAM; kind <= SOCK_SEQPACKET; kind++) {
            const int made = socket(family, kind | SOCK_CLOEXEC, 0);
            if (made >= 0) {
                close(made);
                return 0;
            }
            if (error == 0) error = errno;
            if (errno == EPERM || errno == EACCES) break;
        }
    }
    return error;
}

/** Sends to a named socket, from a socket that needs no name. */
static int sends_to_name(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "/connector-host"};
    const struct msghdr message = {.msg_name = &name, .msg_namelen = sizeof name};
    /* Nothing is there: it is enough that the name was looked up. */
    const int error = sendmsg(pair[0], &message, MSG_DONTWAIT) >= 0 || errno == ENOENT || errno == ECONNREFUSED ? 0 : errno;
    close(pair[0]);
    close(pair[1]);
    return error;
}

static int forks(void) {
    const long child = syscall(SYS_clone, (unsigned long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child < 0) return errno;
    if (child == 0) _exit(0);
    waitpid((pid_t)child, NULL, 0);
    return 0;
}

static int traces(int32_t host) {
    if (ptrace(PTRACE_SEIZE, host, 0, 0) != 0) return errno;
    ptrace(PTRACE_DETACH, host, 0, 0);
    return 0;
}

static int reads_memory(int32_t host) {
    char byte;
    struct iovec here = {&byte, 1}, there = {NULL, 1};
    if (process_vm_readv(host, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT) return 0;
    return errno;
}

/** The errno of a call with arguments that it would reject; 0 if the error comes from the call itself, and not from the filter. */
static int reaches(long result, int first, int second) {
    return result >= 0 || errno == first || errno == second ? 0 : errno;
}

/** Whether the host's number is that of one of this process's threads in its namespace: then the host has none there. */
static int is_own(int32_t number) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/task/%d", number);
    return stat(path, &status) == 0;
}

int32_t sandbox_prove(const sandbox_settings *settings, sandbox_attempt *attempts) {
    static char *const none[] = {NULL};
    const int32_t host = settings->host;
    int32_t count = 0;
#define TRY(name, attempt) attempts[count++] = (sandbox_attempt){name, attempt}
    if (!is_named(settings->read, "/etc/passwd") && !is_named(settings->write, "/etc/passwd")) {
        TRY("open a file", opens("/etc/passwd", O_RDONLY));
    }
    /* A file without a name is gone at once. */
    if (!is_named(settings->write, "/tmp")) TRY("make a file", opens("/tmp", O_WRONLY | O_TMPFILE));
    if (!is_named(settings->write, "/etc/passwd")) TRY("change a file", opens("/etc/passwd", O_WRONLY));
    TRY("make a socket", makes_socket((int)settings->network));
    TRY("send to a socket by its name", sends_to_name());
    /* 0 would mean this process's own group. */
    if (host > 0 && !is_own(host)) {
        TRY("signal the host", kill(host, 0) == 0 ? 0 : errno);
        TRY("trace the host", traces(host));
        TRY("read the host's environment", reads_host(host, "environ"));
        TRY("read the host's memory by /proc", reads_host(host, "mem"));
        TRY("read the host's memory", reads_memory(host));
        TRY("find the host's process", reaches(syscall(CALL_PIDFD_OPEN, host, 0u), EINVAL, EINVAL));
    }
    TRY("run a program", reaches(execve("", none, none), ENOENT, EFAULT));
    TRY("start a process", forks());
    TRY("make namespaces", reaches(syscall(SYS_unshare, 0ul), EINVAL, EINVAL));
    TRY("mount", reaches(syscall(SYS_mount, NULL, NULL, NULL, 0ul, NULL), EFAULT, ENOENT));
    TRY("use io_uring", reaches(syscall(CALL_IO_URING_SETUP, 0u, NULL), EFAULT, EINVAL));
    TRY("load a program into the kernel", reaches(syscall(SYS_bpf, 9999, NULL, 0u), EINVAL, EFAULT));
    TRY("make a call that is newer than the filter", reaches(syscall(CALL_NEWER, -1, NULL, 0u, NULL, NULL, (size_t)0), EINVAL, EFAULT));
#undef TRY
    return count;
}
#endif
