/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Another user of this machine, as the tests need one:
 *
 *   stranger UID ask PATH TEXT     connects to a Unix socket, sends the text, and prints the answer
 *   stranger UID forge PATH TEXT   listens on a Unix socket that everybody may open, prints "ready", sends the text to each client
 *                                  that sends something, and prints what it sent; ends after two minutes at the latest
 *   stranger UID run COMMAND...    runs a command
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(const char *what) {
    perror(what);
    return 1;
}

static int copy(int socket) {
    char bytes[4096];
    ssize_t count;
    while ((count = read(socket, bytes, sizeof bytes)) > 0) {
        if (write(STDOUT_FILENO, bytes, (size_t)count) != count) return fail("write");
    }
    return 0;
}

static int ask(int socket, const struct sockaddr_un *address, const char *text) {
    if (connect(socket, (const struct sockaddr *)address, sizeof *address) != 0) return fail("connect");
    if (send(socket, text, strlen(text), MSG_NOSIGNAL) < 0) return fail("send");
    return copy(socket);
}

static int forge(int listener, const struct sockaddr_un *address, const char *text) {
    unlink(address->sun_path);
    if (bind(listener, (const struct sockaddr *)address, sizeof *address) != 0) return fail("bind");
    if (chmod(address->sun_path, 0777) != 0 || listen(listener, 16) != 0) return fail("listen");
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) return fail("write");
    alarm(120);
    for (;;) {
        char bytes[65536];
        int client = accept(listener, NULL, NULL);
        ssize_t count = client < 0 ? 0 : read(client, bytes, sizeof bytes);
        if (count > 0) {
            if (write(STDOUT_FILENO, bytes, (size_t)count) != count) return fail("write");
            send(client, text, strlen(text), MSG_NOSIGNAL);
        }
        close(client);
    }
}

int main(int count, char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uid_t user;
    if (count < 4) return 64;
    user = (uid_t)strtoul(words[1], NULL, 10);
    if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0) return fail("setuid");
    if (strcmp(words[2], "run") == 0) {
        execv(words[3], words + 3);
        return fail(words[3]);
    }
    if (count < 5 || strlen(words[3]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, words[3]);
    if (strcmp(words[2], "ask") == 0) return ask(socket(AF_UNIX, SOCK_STREAM, 0), &address, words[4]);
    if (strcmp(words[2], "forge") == 0) return forge(socket(AF_UNIX, SOCK_STREAM, 0), &address, words[4]);
    return 64;
}
