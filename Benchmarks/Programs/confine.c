/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * confine IMAGE: seals a copy of an image of Plugins/quick.c, and starts a process that enters the sandbox of a runner, tries what that
 * forbids, loads the copy, opens a gate, and enters the second stage; prints how long that took, in nanoseconds. As directly as C can do
 * what a host does with a runner: no messages, no checks, no threads.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sandbox.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

/** The descriptors of the confined process. */
enum { SOCKET = 3, IMAGE = 4, SUCCESSOR = 5 };

/** What the started process does: it answers with one byte when the gate is open. */
static int confined(void) {
    static const char config[] = "{\"endpoint\":\"https://api.example.com/v1\",\"key\":\"{{secret:key}}\"}";
    const int32_t kept[] = {SOCKET, IMAGE, SUCCESSOR};
    const sandbox_settings settings = {.descriptors = kept, .descriptor_count = 3, .host = getppid(), .successor = SUCCESSOR};
    sandbox_outcome outcomes[SANDBOX_LAYER_COUNT];
    sandbox_attempt attempts[SANDBOX_ATTEMPT_COUNT];
    gate gate;
    char answer = 0;
    sandbox_enter(&settings, outcomes);
    if (!outcomes[SANDBOX_FILTER].holds || !outcomes[SANDBOX_NAMESPACES].holds) return 1;
    for (int32_t index = sandbox_prove(&settings, attempts); index-- > 0;)
        if (attempts[index].refusal == 0) return 1;
    connector_host host = gate_host();
    void *image = dlopen("/proc/self/fd/4", RTLD_NOW | RTLD_LOCAL);
    if (!gate_open(&gate, image, 1, &host, config, sizeof config - 1)) return 1;
    sandbox_narrow(&settings, outcomes);
    if (!outcomes[0].holds || write(SOCKET, &answer, 1) != 1) return 1;
    return read(SOCKET, &answer, 1) == 0 ? 0 : 1;
}

int main(int count, char **arguments) {
    static char bytes[1 << 20];
    posix_spawn_file_actions_t actions;
    int ends[2], successor[2];
    char *const command[] = {"confine", NULL};
    char answer;
    pid_t child;
    int32_t number;
    if (count != 2) return confined();
    const uint64_t start = now(CLOCK_MONOTONIC);
    const int file = open(arguments[1], O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, bytes, sizeof bytes);
    const int image = size <= 0 ? -1 : gate_seal(bytes, (size_t)size);
    if (image < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(successor, O_CLOEXEC) != 0) return 1;
    /* Above the numbers that the process will use. */
    const int given[] = {fcntl(ends[1], F_DUPFD_CLOEXEC, 16), fcntl(image, F_DUPFD_CLOEXEC, 16), fcntl(successor[1], F_DUPFD_CLOEXEC, 16)};
    posix_spawn_file_actions_init(&actions);
    for (int index = 0; index < 3; index++) posix_spawn_file_actions_adddup2(&actions, given[index], SOCKET + index);
    if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, command, environ) != 0) return 1;
    for (int index = 0; index < 3; index++) close(given[index]);
    close(ends[1]);
    close(successor[1]);
    const int isReplaced = read(successor[0], &number, sizeof number) == (ssize_t)sizeof number;
    const int isOpen = isReplaced && read(ends[0], &answer, 1) == 1;
    const uint64_t time = now(CLOCK_MONOTONIC) - start;
    close(ends[0]);
    while (wait(NULL) > 0 || errno == EINTR) {}
    if (!isOpen) {
        fputs("confine: the sandbox does not hold here\n", stderr);
        return 1;
    }
    printf("%llu\n", (unsigned long long)time);
    return 0;
}
