/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Namespaces: user_namespaces(7) and pid_namespaces(7). A process cannot change its own PID namespace, so a child takes its place,
 * and becomes a child of the host, which alone can ensure that nothing is left behind. The child is the first process of its
 * namespace: the kernel spares such a process the signals that it sends itself, so `abort` ends it by SIGSEGV.
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "layers.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 3.5, if the kernel is built with checkpoint and restore. */
#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

static int write_file(const char *path, const char *text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const ssize_t count = write(file, text, strlen(text));
    const int error = count < 0 ? errno : 0;
    close(file);
    return error;
}

/** Maps one user and one group, which keep their numbers. */
static int map(uid_t user, gid_t group) {
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", user, user);
    snprintf(groups, sizeof groups, "%u %u 1", group, group);
    int error = write_file("/proc/self/setgroups", "deny");
    if (error == 0) error = write_file("/proc/self/gid_map", groups);
    return error != 0 ? error : write_file("/proc/self/uid_map", users);
}

/**
 * Forks into new namespaces, as a child of this process's parent. The C library caches the thread's id, which the kernel
 * updates in the child.
 */
static long fork_beside(int keeps_network) {
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_PARENT | SIGCHLD;
    if (!keeps_network) flags |= CLONE_NEWNET;
    void *number = NULL;
    if (prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) == 0 && number != NULL) flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
#if defined(__x86_64__)
    return syscall(SYS_clone, flags, NULL, NULL, number, NULL);
#else
    return syscall(SYS_clone, flags, NULL, NULL, NULL, number);
#endif
}

/** Waits until the other process has written its message and closed its end: this one's messages follow that. */
static void await_end(int end) {
    char byte;
    while (read(end, &byte, 1) < 0 && errno == EINTR) {}
}

void sandbox_enter_namespaces(const sandbox_settings *settings, sandbox_outcome *outcome) {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    /* Otherwise a process that was root does not own its files in /proc. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    int ends[2] = {-1, -1};
    const long child = pipe2(ends, O_CLOEXEC) == 0 ? fork_beside((int)settings->network) : -1;
    if (child > 0) {
        const int32_t number = (int32_t)child;
        /* If the host has ended, it does not read the number, and the child ends with it. */
        const int is_written = write(settings->successor, &number, sizeof number) == (ssize_t)sizeof number;
        close(ends[1]);
        _exit(is_written ? 0 : 1);
    }
    const int forking = errno;
    if (child == 0) sandbox_end_with_host(settings->host, 1);
    if (ends[1] >= 0) close(ends[1]);
    if (child == 0) await_end(ends[0]);
    if (ends[0] >= 0) close(ends[0]);
    if (child < 0) {
        const int32_t none = 0;
        (void)send(settings->successor, &none, sizeof none, MSG_NOSIGNAL);
        sandbox_fails(outcome, "the kernel refuses them", forking);
        return;
    }
    const int error = map(user, group);
    if (error != 0) {
        sandbox_fails(outcome, "no map of users", error);
        return;
    }
    sandbox_holds(outcome, 0);
    sandbox_make_view(settings, outcome);
}
#endif
