/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * look PORT TOKEN COUNT: follows live pages of a console like as many browsers: half of them /gates, each of the others a gate of its own.
 * Prints `live` as soon as each has its page.
 *
 * It reads what comes and draws nothing, so that the console's work is measured and not a browser's. It ends when its standard output
 * is closed; its status is 0 if no connection has ended, and /gates has changed for every reader since.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 1024 };

static int look_at(int port, const char *token, int number) {
    char path[64], request[512];
    if (number % 2 == 0) snprintf(path, sizeof path, "%%2Fgates");
    else snprintf(path, sizeof path, "%%2Fgates%%2Fgate-%04d", number);
    int size = snprintf(request, sizeof request,
                        "GET /-/live?at=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", path, port, token);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    return write(connection, request, (size_t)size) == size ? connection : -1;
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    const int port = atoi(arguments[1]), pages = atoi(arguments[3]);
    if (pages < 1 || pages > LIMIT) return 64;
    static struct pollfd watched[LIMIT + 1];
    static int events[LIMIT];
    static char bytes[1 << 16];
    for (int i = 0; i < pages; i++) {
        watched[i] = (struct pollfd){.fd = look_at(port, arguments[2], i), .events = POLLIN};
        if (watched[i].fd < 0) return 1;
    }
    watched[pages] = (struct pollfd){.fd = STDOUT_FILENO};
    int waiting = pages;
    while (poll(watched, (nfds_t)pages + 1, 60000) > 0 && watched[pages].revents == 0) {
        for (int i = 0; i < pages; i++) {
            if (watched[i].revents == 0) continue;
            ssize_t size = read(watched[i].fd, bytes, sizeof bytes - 1);
            if (size <= 0) return 1;
            bytes[size] = 0;
            /* Every event names its version first. */
            int isEvent = strstr(bytes, "\nid: ") != NULL || strncmp(bytes, "id: ", 4) == 0;
            if (isEvent && events[i]++ == 0 && --waiting == 0) {
                puts("live");
                fflush(stdout);
            }
        }
    }
    int unchanged = 0;
    for (int i = 0; i < pages; i += 2) unchanged += events[i] < 2;
    return waiting > 0 || unchanged > 0;
}
