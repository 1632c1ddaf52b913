/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors, the identity of this process, and how much it may use.
 */
#define _GNU_SOURCE

#ifdef __linux__
#include "layers.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL_CLOSE_RANGE 436

/** The user nobody, by its number: there may be no /etc/passwd. */
#define NOBODY 65534

/**
 * What a process reserves and hardly touches, in bytes: the kernel counts the stacks of its threads, 8 MiB each, and the tables of
 * its libraries. A runner with a Swift plugin has 124 MB of that before any work.
 */
#define RESERVED (128u << 20)

/**
 * Enough for Dispatch, which crashes if it cannot open a file in /proc. A process may send descriptors until its user has more than
 * this in flight, by 253 at a time, so others with the usual limit of 1024 go on; and watches of epoll, which the kernel also counts
 * for each user, grow with its square.
 */
#define DESCRIPTOR_BOUND 512

/** What the stack of the first thread may grow to, in bytes, whatever the user's limit is: RLIMIT_DATA does not count it. */
#define STACK_BOUND (8u << 20)

/** Closes the descriptors in a range, one by one where the kernel has no call for that. */
static int close_between(unsigned first, unsigned last) {
    struct rlimit limit;
    if (first > last) return 0;
    if (syscall(CALL_CLOSE_RANGE, first, last, 0u) == 0) return 0;
    if (errno != ENOSYS && errno != EPERM) return errno;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
    for (unsigned number = first; number <= last && number < limit.rlim_cur; number++) close((int)number);
    return 0;
}

void sandbox_keep_descriptors(const sandbox_settings *settings, sandbox_outcome *outcome) {
    unsigned next = 3;
    int error = 0;
    for (int32_t index = 0; index < settings->descriptor_count && error == 0; index++) {
        const unsigned kept = (unsigned)settings->descriptors[index];
        if (kept < next) continue;
        error = close_between(next, kept - 1);
        next = kept + 1;
    }
    if (error == 0) error = close_between(next, ~0u);
    if (error != 0) {
        sandbox_fails(outcome, "descriptors cannot be closed", error);
    } else {
        sandbox_holds(outcome, 0);
    }
}

void sandbox_leave_root(sandbox_outcome *outcome) {
    if (geteuid() != 0) return;
    /* The C library's functions change all threads, of which there is only one. */
    if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0) {
        sandbox_fails(outcome, "root stays root", errno);
    }
}

void sandbox_drop_capabilities(sandbox_outcome *outcome) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        sandbox_fails(outcome, "privileges can come back", errno);
    } else if (syscall(SYS_capset, &header, none) != 0) {
        sandbox_fails(outcome, "capabilities stay", errno);
    } else if (outcome->error == 0) {
        sandbox_holds(outcome, (int32_t)geteuid());
    }
}

/** Lowers a limit for good; a limit that is already lower stays. */
static int lower(int resource, rlim_t bound) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) return errno;
    if (limit.rlim_max > bound) limit.rlim_max = bound;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit) == 0 ? 0 : errno;
}

/** Half of the host's own limit, which this process has inherited, if that is less: see DESCRIPTOR_BOUND. */
static int lower_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
    return lower(RLIMIT_NOFILE, limit.rlim_cur / 2 < DESCRIPTOR_BOUND ? limit.rlim_cur / 2 : DESCRIPTOR_BOUND);
}

void sandbox_bound(const sandbox_settings *settings, int is_user_namespace, sandbox_outcome *outcome) {
    int error = lower(RLIMIT_CORE, 0);
    if (error == 0) error = lower_descriptors();
    if (error == 0) error = lower(RLIMIT_MSGQUEUE, 0);
    /* Memory that is private and may be written. RLIMIT_AS would count memory that may not even be read. */
    if (error == 0 && settings->memory != 0) error = lower(RLIMIT_DATA, settings->memory + RESERVED);
    if (error == 0 && settings->memory != 0) error = lower(RLIMIT_STACK, STACK_BOUND);
    /* Counts the user's processes in the user namespace; without one, it would count the host's, too. */
    if (error == 0 && settings->threads != 0 && is_user_namespace) error = lower(RLIMIT_NPROC, settings->threads);
    /* No process of the same user may inspect this one, and it leaves no core dump. */
    if (error == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) error = errno;
    if (error != 0) {
        sandbox_fails(outcome, "a limit cannot be set", error);
        return;
    }
    sandbox_holds(outcome, 0);
    if (settings->threads != 0 && !is_user_namespace) sandbox_lacks(outcome, "threads are unbounded without a user namespace");
}
#endif
