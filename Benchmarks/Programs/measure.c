/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * measure PROGRAM [ARGUMENT...]: runs a program, and prints the nanoseconds from before it was started to after its end,
 * its peak memory in kilobytes, and its exit status.
 *
 * This is a separate program because Linux counts the memory of whoever starts a process towards that process's peak, and this
 * one has next to none. The program's standard output is discarded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "clock.h"

extern char **environ;

int main(int count, char **arguments) {
    if (count < 2) return 64;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t process;
    const uint64_t start = now(CLOCK_MONOTONIC);
    if (posix_spawn(&process, arguments[1], &actions, NULL, arguments + 1, environ) != 0) {
        perror(arguments[1]);
        return 1;
    }
    int status;
    struct rusage usage;
    if (wait4(process, &status, 0, &usage) != process) return 1;
    const uint64_t end = now(CLOCK_MONOTONIC);
    posix_spawn_file_actions_destroy(&actions);
    printf("%llu %ld %d\n", (unsigned long long)(end - start), usage.ru_maxrss,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
