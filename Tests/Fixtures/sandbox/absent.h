/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * absent.h: filters in front of a process, as of an older kernel or of a container, where a layer of the sandbox is missing.
 */
#ifndef SANDBOXED_ABSENT_H
#define SANDBOXED_ABSENT_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The calls that are refused: those of a range of numbers, if the lower half of an argument has a value below a mask. */
static const struct absence {
    const char *layer;
    uint32_t first, last, argument, mask, value, error;
} absences[] = {
    /* As in a container. */
    {"namespaces", SYS_clone, SYS_clone, 0, CLONE_NEWUSER, CLONE_NEWUSER, EPERM},
    /* The three calls of Landlock do not exist. */
    {"landlock", 444, 446, 0, 0, 0, ENOSYS},
    /* Landlock reports a later ABI, and takes no rules that are longer than those of ABI 5. */
    {"landlock6", 444, 444, 1, UINT32_MAX, 24, EINVAL},
    /* Also refuses each further one of these filters. */
    {"seccomp", SYS_seccomp, SYS_seccomp, 0, 0, 0, EPERM},
    /* A filter cannot ask. */
    {"listener", SYS_seccomp, SYS_seccomp, 1, 0x08, 0x08, EINVAL},
    /* Root stays root. */
    {"identity", SYS_setresuid, SYS_setresuid, 0, 0, 0, EPERM},
    {"capabilities", SYS_capset, SYS_capset, 0, 0, 0, EPERM},
    {"limits", SYS_prlimit64, SYS_prlimit64, 0, 0, 0, EPERM},
    /* No call closes a range of descriptors. */
    {"descriptors", 436, 436, 0, 0, 0, ENOSYS},
    /* There are no files in memory. */
    {"memory-files", SYS_memfd_create, SYS_memfd_create, 0, 0, 0, EPERM},
    /* No descriptor can be sent. */
    {"messages", SYS_sendmsg, SYS_sendmsg, 0, 0, 0, EPERM},
    /* clone3 is refused as no kernel refuses it, so that the C library tries nothing else. */
    {"threads", 435, 435, 0, 0, 0, EPERM},
    /* How children have ended is told by wait4 alone. */
    {"waits", SYS_waitid, SYS_waitid, 0, 0, 0, EPERM},
};

/** Puts a filter in front of this process, and of the programs that it runs. Returns whether there is such a layer. */
static int lack(const char *layer) {
    for (size_t index = 0; index < sizeof absences / sizeof *absences; index++) {
        const struct absence absence = absences[index];
        if (strcmp(absence.layer, layer) != 0) continue;
        struct sock_filter program[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, absence.first, 0, 5),
            BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, absence.last, 4, 0),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * absence.argument),
            BPF_STMT(BPF_ALU | BPF_AND | BPF_K, absence.mask),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, absence.value, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | absence.error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog list = {sizeof program / sizeof *program, program};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &list) != 0) abort();
        return 1;
    }
    return 0;
}

#endif
