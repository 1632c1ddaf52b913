/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "acts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define RESULT(call) ((call) < 0 ? errno : 0)

static int opens(const char *path, int flags) {
    const int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

static int runs(const char *path) {
    char *const arguments[] = {(char *)path, NULL};
    pid_t process;
    int status;
    const int error = posix_spawn(&process, path, NULL, NULL, arguments, environ);
    if (error == 0) waitpid(process, &status, 0);
    return error;
}

/** Sends from one end of a datagram pair, which may be connected to anything. */
static int sends(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int ends[2];
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    return RESULT(sendto(ends[0], "x", 1, 0, (struct sockaddr *)&address, sizeof address));
}

/** Sends descriptors that nobody receives until that is refused, and prints how many. */
static int sends_descriptors(void) {
    enum { each = 250 };
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(each * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    int ends[2], descriptors[each], count = 0, error = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    for (int index = 0; index < each; index++) descriptors[index] = 1;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(&control.header), descriptors, sizeof descriptors);
    for (; error == 0 && count < 8 * each; count += error == 0 ? each : 0) {
        if (sendmsg(ends[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) error = errno;
    }
    printf("in flight: %d\n", count);
    close(ends[0]);
    close(ends[1]);
    return error;
}

/** Makes a socket whose close(2) waits. */
static int lingers(void) {
    const struct linger wait = {.l_onoff = 1, .l_linger = 40};
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) return -1;
    const int error = RESULT(setsockopt(made, SOL_SOCKET, SO_LINGER, &wait, sizeof wait));
    close(made);
    return error;
}

static void *wait_for_ever(void *context) {
    (void)context;
    for (;;) pause();
    return NULL;
}

/** Makes threads until no more can be made, or there are too many. */
static int makes_threads(int most) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    for (int count = 0; count < most; count++) {
        pthread_t thread;
        const int error = pthread_create(&thread, &small, wait_for_ever, NULL);
        if (error != 0) return error;
    }
    return 0;
}

/** Allocates until there is nothing left, or too much. */
static int allocates(long megabytes, int flags) {
    for (long count = 0; count < megabytes; count++) {
        char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return errno;
        memory[count % 4096] = 1;
    }
    return 0;
}

static int opens_descriptors(int most) {
    for (int count = 0; count < most; count++) {
        if (dup(1) < 0) return errno;
    }
    return 0;
}

static void *do_nothing(void *context) { return context; }

/** A thread that is made, and ends at once. */
static int has_threads(void) {
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, do_nothing, NULL);
    return error != 0 ? error : pthread_join(thread, NULL);
}

/** Maps code. */
static int maps(const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED ? errno : 0;
}

static int of_host(int host, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", host, name);
    return opens(path, O_RDONLY);
}

/** Makes sockets that are refused, and gives the errno of each, or 0 if they differ. */
static int makes_sockets(long count) {
    int error = 0;
    for (long index = 0; index < count; index++) {
        const int refused = RESULT(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (index > 0 && refused != error) return 0;
        error = refused;
    }
    return error;
}

/** Installs a filter with a listener, by which whoever has that could allow calls. */
static int listens(void) {
    struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {1, &allow};
    return RESULT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

/** Makes a call by its number, with zeros as arguments. */
static int calls(long number) { return RESULT(syscall(number, 0, 0, 0, 0, 0, 0)); }

int act(const char *name, const char *argument, int host) {
    const char *text = argument != NULL ? argument : "";
    const long number = strtol(text, NULL, 0);
#define ACT(title, result) if (strcmp(name, title) == 0) return result
    ACT("nothing", 0);
    ACT("read", opens(text, O_RDONLY));
    ACT("write", opens(text, O_WRONLY | O_CREAT));
    ACT("list", opens(text, O_RDONLY | O_DIRECTORY));
    ACT("remove", RESULT(unlink(text)));
    ACT("map", maps(text));
    ACT("socket", RESULT(socket((int)number, SOCK_STREAM, 0)));
    ACT("sockets", makes_sockets(number));
    ACT("listener", listens());
    ACT("send", sends(text));
    ACT("in-flight", sends_descriptors());
    ACT("linger", lingers());
    ACT("inotify", RESULT(inotify_init1(0)));
    ACT("exec", RESULT(execl(text, text, (char *)NULL)));
    ACT("spawn", runs(text));
    ACT("fork", RESULT(fork()));
    ACT("thread", has_threads());
    ACT("threads", makes_threads((int)number));
    ACT("memory", allocates(number, MAP_PRIVATE));
    ACT("shared-memory", allocates(number, MAP_SHARED));
    ACT("grows-down", allocates(number, MAP_PRIVATE | MAP_GROWSDOWN));
    ACT("descriptors", opens_descriptors((int)number));
    ACT("is-open", RESULT(fcntl((int)number, F_GETFD)));
    ACT("ptrace", RESULT(ptrace(PTRACE_SEIZE, host, 0, 0)));
    ACT("of-host", of_host(host, text));
    ACT("signal-host", RESULT(kill(host, 0)));
    ACT("signal-group", RESULT(kill(0, 0)));
    ACT("signal-all", RESULT(kill(-1, 0)));
    ACT("signal-thread-of-host", RESULT(syscall(SYS_tgkill, host, host, 0)));
    ACT("signal-by-owner", RESULT(fcntl(0, F_SETOWN, host)));
    ACT("raise", raise((int)number));
    ACT("abort", (abort(), 0));
    ACT("segfault", (raise(SIGSEGV), 0));
    ACT("exit", (exit((int)number), 0));
    ACT("hang", (wait_for_ever(NULL), 0));
    /* Asks for a segment that there is not, since one that is made would stay. */
    ACT("shm", RESULT(shmget(0x7ffffffd, 4096, 0)));
    ACT("unshare", RESULT(unshare(CLONE_NEWUSER)));
    ACT("dumpable", RESULT(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)));
    ACT("outlive", RESULT(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)));
    ACT("nice-host", RESULT(setpriority(PRIO_PROCESS, (id_t)host, 19)));
    ACT("limits-of-host", RESULT(prlimit(host, RLIMIT_CORE, NULL, NULL)));
    ACT("memfd", RESULT(memfd_create("x", 0)));
    ACT("call", calls(number));
    ACT("process", (printf("process %d\n", (int)getpid()), 0));
    return -1;
}
