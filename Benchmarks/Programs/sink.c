/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * sink: takes batches of events as Segment does, counts each id, and prints the port at which it listens on the loopback interface.
 *
 * With a number of milliseconds as its argument, it delays each answer by that much, as a vendor far away does.
 *
 * An id is "bench-" and a number below 16 million. GET /count/N waits until N different ids have come, a minute at most, and answers
 * how many different ones came, how many in all, and in how many requests. It has a thread for each connection. It ends once nobody
 * reads its output, and so with whoever started it, and after an hour in any case.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

enum { ids = 16 << 20, size = 8 << 20 };
static atomic_uchar seen[ids];
static atomic_ulong different, all, requests;
static useconds_t distance;

static void fail(const char *reason) {
    fprintf(stderr, "sink: %s\n", reason);
    exit(1);
}

static void count(const char *text, size_t length) {
    static const char mark[] = "\"messageId\":", start[] = "\"bench-";
    const char *end = text + length;
    while ((text = memmem(text, (size_t)(end - text), mark, sizeof mark - 1)) != NULL) {
        text += sizeof mark - 1;
        if (*text == ' ') text++;
        if (strncmp(text, start, sizeof start - 1) != 0) continue;
        text += sizeof start - 1;
        unsigned long id = strtoul(text, NULL, 10);
        if (id >= ids) fail("an id is out of range");
        if (!atomic_exchange(&seen[id], 1)) atomic_fetch_add(&different, 1);
        atomic_fetch_add(&all, 1);
    }
}

static void take(const char *body, size_t length, int is_compressed, char *room) {
    if (!is_compressed) {
        count(body, length);
        return;
    }
    z_stream stream = {.next_in = (Bytef *)body, .avail_in = (uInt)length, .next_out = (Bytef *)room, .avail_out = size - 1};
    if (inflateInit2(&stream, 15 + 32) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END)
        fail("a body cannot be decompressed");
    room[stream.total_out] = 0;
    count(room, stream.total_out);
    inflateEnd(&stream);
}

static void answer(int connection, const char *status, const char *text) {
    char bytes[512];
    int length = snprintf(bytes, sizeof bytes,
                          "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", status,
                          strlen(text), text);
    if (write(connection, bytes, (size_t)length) < 0) perror("sink");
}

/* Answers the first request if it is whole; returns its length. */
static size_t request(int connection, char *bytes, size_t received, char *room) {
    bytes[received] = 0;
    char *end = strstr(bytes, "\r\n\r\n");
    if (end == NULL) return 0;
    size_t body = 0;
    int is_compressed = 0;
    for (char *line = bytes; line < end; line = strstr(line, "\r\n") + 2) {
        if (strncasecmp(line, "content-length:", 15) == 0) body = strtoul(line + 15, NULL, 10);
        if (strncasecmp(line, "content-encoding:", 17) == 0) is_compressed = 1;
    }
    size_t total = (size_t)(end - bytes) + 4 + body;
    if (total > received) return 0;
    static const char counting[] = "GET /count/";
    if (strncmp(bytes, counting, sizeof counting - 1) == 0) {
        unsigned long wanted = strtoul(bytes + sizeof counting - 1, NULL, 10);
        for (int waits = 0; waits < 60000 && atomic_load(&different) < wanted; waits++) usleep(1000);
        char numbers[80];
        snprintf(numbers, sizeof numbers, "%lu %lu %lu\n", atomic_load(&different), atomic_load(&all), atomic_load(&requests));
        answer(connection, "200 OK", numbers);
    } else if (strncmp(bytes, "GET ", 4) == 0) {
        answer(connection, "200 OK", "{\"integrations\":{}}");
    } else {
        char last = bytes[total];
        bytes[total] = 0;
        take(end + 4, body, is_compressed, room);
        atomic_fetch_add(&requests, 1);
        bytes[total] = last;
        if (distance > 0) usleep(distance);
        answer(connection, "200 OK", "{\"success\":true}");
    }
    return total;
}

static void *serve(void *argument) {
    int connection = (int)(intptr_t)argument;
    char *bytes = malloc(size), *room = malloc(size);
    size_t received = 0;
    while (bytes != NULL && room != NULL && received < size - 1) {
        ssize_t more = read(connection, bytes + received, size - 1 - received);
        if (more <= 0) break;
        received += (size_t)more;
        for (size_t length; (length = request(connection, bytes, received, room)) > 0;)
            memmove(bytes, bytes + length, received -= length);
    }
    close(connection);
    free(bytes);
    free(room);
    return NULL;
}

int main(int argument_count, char **arguments) {
    if (argument_count > 1) distance = (useconds_t)atol(arguments[1]) * 1000;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 256) != 0) return 1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) != 0) return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    alarm(3600);
    signal(SIGPIPE, SIG_IGN);
    struct pollfd waits[2] = {{.fd = listener, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    while (poll(waits, 2, -1) > 0) {
        if (waits[1].revents != 0) return 0;
        int one = 1, connection = accept(listener, NULL, NULL);
        if (connection < 0) return 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) != 0) return 1;
        pthread_detach(thread);
    }
    return 1;
}
