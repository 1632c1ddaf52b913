/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * serve: answers every HTTP request with the same small document, and prints the port at which it listens on the loopback interface.
 *
 * The least that a client can be measured against: it has a thread for each connection, and looks only for the end of a request. It
 * ends when every connection that it had is closed, and after ten minutes in any case.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"success\":true}";
static atomic_int open_connections;

/* The bytes of the first whole request, 0 if there is none yet. */
static size_t whole(char *bytes, size_t count) {
    bytes[count] = 0;
    char *end = strstr(bytes, "\r\n\r\n");
    if (end == NULL) return 0;
    size_t body = 0;
    for (char *line = bytes; line < end; line = strstr(line, "\r\n") + 2)
        if (strncasecmp(line, "content-length:", 15) == 0) body = strtoul(line + 15, NULL, 10);
    size_t total = (size_t)(end - bytes) + 4 + body;
    return total <= count ? total : 0;
}

static void *serve(void *argument) {
    int connection = (int)(intptr_t)argument;
    static const size_t size = 1 << 16;
    char *bytes = malloc(size);
    size_t count = 0;
    while (bytes != NULL && count < size - 1) {
        ssize_t received = read(connection, bytes + count, size - 1 - count);
        if (received <= 0) break;
        count += (size_t)received;
        for (size_t length = whole(bytes, count); length > 0; length = whole(bytes, count)) {
            if (write(connection, answer, sizeof answer - 1) < 0) exit(1);
            memmove(bytes, bytes + length, count -= length);
        }
    }
    if (atomic_fetch_sub(&open_connections, 1) == 1) exit(0);
    close(connection);
    free(bytes);
    return NULL;
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 256) != 0) return 1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    alarm(600);
    for (;;) {
        int one = 1, connection = accept(listener, NULL, NULL);
        if (connection < 0) return 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        atomic_fetch_add(&open_connections, 1);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0) return 1;
        pthread_detach(thread);
    }
}
