/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runner.c: a runner of version 1 of the messages, as far as every later host reads one: magic, version, and layout. Never changes.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { SOCKET = 3, SUCCESSOR = 5 };

int main(void) {
    /* The size of what follows, the kind `ready`, no flags, no instance; then "CRUN", the version, and the layout. */
    const uint16_t kinds[] = {64, 0};
    const uint32_t words[] = {12, 0, 0, 0, 0x4E555243, 1, 1};
    unsigned char answer[sizeof words], hello[256];
    memcpy(answer, words, sizeof words);
    memcpy(answer + 4, kinds, sizeof kinds);
    close(SUCCESSOR);
    if (read(SOCKET, hello, sizeof hello) < 16) return 1;
    if (write(SOCKET, answer, sizeof answer) != (ssize_t)sizeof answer) return 1;
    /* Until the host hangs up. */
    while (read(SOCKET, hello, sizeof hello) > 0) {}
    return 0;
}
