/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * refusing LAYER... -- PROGRAM [ARGUMENT]...: runs a program as on a system that lacks layers of the sandbox, or what a runner needs.
 */
#define _GNU_SOURCE

#include "../sandbox/absent.h"

int main(int argc, char **argv) {
    int next = 1;
    for (; next < argc && strcmp(argv[next], "--") != 0; next++) {
        if (!lack(argv[next])) return 64;
    }
    if (next + 1 >= argc) return 64;
    execv(argv[next + 1], &argv[next + 1]);
    return 126;
}
