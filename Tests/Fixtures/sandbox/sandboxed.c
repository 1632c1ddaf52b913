/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process that enters the sandbox and tries one thing. Prints each layer, then what happened.
 *
 * sandboxed [OPTION]... ACT [ARGUMENT]
 *   --read PATH, --write PATH, --memory BYTES, --threads COUNT, --network, --successor DESCRIPTOR, --keep DESCRIPTOR
 *   --without namespaces|landlock   a filter in front, as of a container or an older kernel
 *   --broad                      without the second filter
 *   --learn                      without any sandbox, and with a thread that prints what one would refuse
 *   --outside                    without any sandbox, to see that an act does something
 */
#define _GNU_SOURCE

#include <sandbox.h>

#include "acts.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stand_in_front(struct sock_filter *program, size_t size) {
    struct sock_fprog list = {(unsigned short)(size / sizeof *program), program};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &list) != 0) abort();
}

/** As in a container: no clone with CLONE_NEWUSER. */
static void refuse_namespaces(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    stand_in_front(program, sizeof program);
}

/** As on an older kernel: the three calls of Landlock do not exist. */
static void refuse_landlock(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    stand_in_front(program, sizeof program);
}

static void print_outcome(const char *name, const sandbox_outcome *outcome) {
    printf("%s %d %d %d %s\n", name, outcome->holds, outcome->version, outcome->error, outcome->detail);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"filter", "landlock", "namespaces", "identity", "limits", "descriptors"};
    const char *read[16] = {0}, *write[16] = {0};
    int32_t kept[16], reads = 0, writes = 0, is_broad = 0, is_outside = 0, learns = 0, next = 1;
    sandbox_settings settings = {.read = read, .write = write, .descriptors = kept, .host = (int32_t)getppid(), .successor = -1};
    sandbox_outcome outcomes[SANDBOX_LAYER_COUNT] = {0};
    for (; next < argc && strncmp(argv[next], "--", 2) == 0; next++) {
        const char *option = argv[next] + 2;
        if (strcmp(option, "network") == 0) settings.network = 1;
        else if (strcmp(option, "broad") == 0) is_broad = 1;
        else if (strcmp(option, "outside") == 0) is_outside = 1;
        else if (strcmp(option, "learn") == 0) learns = is_outside = 1;
        else if (++next == argc || reads == 15 || writes == 15) return 64;
        else if (strcmp(option, "read") == 0) read[reads++] = argv[next];
        else if (strcmp(option, "write") == 0) write[writes++] = argv[next];
        else if (strcmp(option, "memory") == 0) settings.memory = strtoull(argv[next], NULL, 10);
        else if (strcmp(option, "threads") == 0) settings.threads = (uint32_t)atoi(argv[next]);
        else if (strcmp(option, "successor") == 0) settings.successor = atoi(argv[next]);
        else if (strcmp(option, "keep") == 0) kept[settings.descriptor_count++] = atoi(argv[next]);
        else if (strcmp(argv[next], "namespaces") == 0) refuse_namespaces();
        else if (strcmp(argv[next], "landlock") == 0) refuse_landlock();
        else return 64;
    }
    if (next == argc) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!is_outside) {
        sandbox_enter(&settings, outcomes);
        if (!is_broad) sandbox_narrow(&settings, &outcomes[SANDBOX_FILTER]);
    }
    if (learns && (errno = sandbox_learn(&settings, 1)) != 0) perror("sandbox_learn");
    for (int layer = 0; layer < SANDBOX_LAYER_COUNT; layer++) print_outcome(names[layer], &outcomes[layer]);
    if (strcmp(argv[next], "prove") == 0) {
        sandbox_attempt attempts[SANDBOX_ATTEMPT_COUNT];
        const int32_t count = sandbox_prove(&settings, attempts);
        for (int32_t index = 0; index < count; index++) printf("%s: %d\n", attempts[index].name, attempts[index].refusal);
        return 0;
    }
    const int result = act(argv[next], next + 1 < argc ? argv[next + 1] : NULL, settings.host);
    printf("act: %d\n", result);
    return 0;
}
