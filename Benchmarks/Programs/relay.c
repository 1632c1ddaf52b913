/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * relay PORT FOLDER FIRST COUNT BYTES: sends events, one per line, through syslog-ng to the sink at a port, in requests of a hundred;
 * prints the nanoseconds for each event until the sink has counted it, and the nanoseconds of processor time that syslog-ng took for it.
 *
 * syslog-ng keeps the events in its reliable disk buffer, below a folder that the caller makes and removes. The sink has counted FIRST
 * events before, and the ids continue from there. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char settings[] =
    "@version: 3.38\n"
    "options { stats-freq(0); threaded(yes); };\n"
    "source events { unix-stream(\"%1$s/socket\" flags(no-parse) log-msg-size(65536) max-connections(2) log-iw-size(20000) log-fetch-limit(1000)); };\n"
    "destination sink { http(url(\"http://127.0.0.1:%2$s/v1/batch\") method(\"POST\") headers(\"Content-Type: application/json\")\n"
    "  body-prefix(\"{\\\"batch\\\":[\") delimiter(\",\") body-suffix(\"]}\") body(\"$MSG\") batch-lines(100) batch-timeout(100)\n"
    "  disk-buffer(reliable(yes) disk-buf-size(1073741824) mem-buf-size(67108864) dir(\"%1$s\"))); };\n"
    "log { source(events); destination(sink); flags(flow-control); };\n";

static pid_t child;

static void fail(const char *what) {
    perror(what);
    if (child > 0) kill(child, SIGKILL);
    exit(1);
}

static uint64_t now(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) fail("relay: clock");
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void start(const char *folder, const char *port) {
    char file[512], persist[512], control[512], whole[4096], pid[4200];
    snprintf(file, sizeof file, "%s/conf", folder);
    snprintf(persist, sizeof persist, "%s/persist", folder);
    snprintf(control, sizeof control, "%s/control", folder);
    /* A relative path would be resolved below its own state. */
    if (realpath(folder, whole) == NULL) fail(folder);
    snprintf(pid, sizeof pid, "%s/pid", whole);
    FILE *stream = fopen(file, "w");
    if (stream == NULL || fprintf(stream, settings, folder, port) < 0 || fclose(stream) != 0) fail(file);
    child = fork();
    if (child < 0) fail("relay: fork");
    if (child > 0) return;
    /* syslog-ng ends with this program, however that ends. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("syslog-ng", "syslog-ng", "-F", "--no-caps", "-f", file, "-R", persist, "-c", control, "-p", pid, (char *)NULL);
    perror("syslog-ng");
    _exit(127);
}

static int connected(struct sockaddr *address, socklen_t length) {
    for (int tries = 0; tries < 5000; tries++) {
        int connection = socket(address->sa_family, SOCK_STREAM, 0);
        if (connect(connection, address, length) == 0) return connection;
        close(connection);
        if (waitpid(child, NULL, WNOHANG) != 0) break;
        usleep(1000);
    }
    fail("relay: connect");
    return -1;
}

static void write_whole(int connection, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(connection, bytes, count);
        if (written <= 0) fail("relay: write");
        bytes += written;
        count -= (size_t)written;
    }
}

/* Sends events of a size, several lines at a time. */
static void send_events(int connection, long first, long count, int bytes) {
    static char lines[1 << 16];
    size_t length = 0;
    char filler[4096] = "";
    /* Without the filler, an event has 202 bytes. */
    memset(filler, 'x', bytes > 202 && bytes < 4000 ? (size_t)bytes - 202 : 0);
    for (long event = first; event < first + count; event++) {
        length += (size_t)snprintf(
            lines + length, sizeof lines - length,
            "{\"type\":\"track\",\"event\":\"Order Completed\",\"messageId\":\"bench-%030ld\",\"userId\":\"user-%04ld\","
            "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"properties\":{\"product\":\"Socks\",\"total\":%3ld.5,"
            "\"note\":\"%s\"}}\n", event, event % 10000, event % 1000, filler);
        if (length < sizeof lines - 5000) continue;
        write_whole(connection, lines, length);
        length = 0;
    }
    write_whole(connection, lines, length);
}

/* Waits until the sink has counted this many different events. */
static void await_count(const char *port, long count) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(port));
    char text[1024];
    int connection = connected((struct sockaddr *)&address, sizeof address);
    int length = snprintf(text, sizeof text, "GET /count/%ld HTTP/1.1\r\nHost: sink\r\n\r\n", count);
    write_whole(connection, text, (size_t)length);
    ssize_t received = read(connection, text, sizeof text - 1);
    if (received <= 0) fail("relay: the sink");
    text[received] = 0;
    const char *body = strstr(text, "\r\n\r\n");
    if (body == NULL || atol(body + 4) != count) {
        fprintf(stderr, "relay: of %ld events arrived %s", count, body == NULL ? "?\n" : body + 4);
        kill(child, SIGKILL);
        exit(1);
    }
    close(connection);
}

int main(int count, char **arguments) {
    if (count != 6) return 64;
    alarm(120);
    signal(SIGPIPE, SIG_IGN);
    const char *port = arguments[1], *folder = arguments[2];
    long first = atol(arguments[3]), events = atol(arguments[4]);
    start(folder, port);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    int connection = connected((struct sockaddr *)&address, sizeof address);
    /* The first events connect it to the sink. */
    send_events(connection, first, 100, atoi(arguments[5]));
    await_count(port, first + 100);
    clockid_t processor;
    if (clock_getcpuclockid(child, &processor) != 0) fail("relay: clock");
    uint64_t begin = now(CLOCK_MONOTONIC), used = now(processor);
    send_events(connection, first + 100, events - 100, atoi(arguments[5]));
    await_count(port, first + events);
    printf("%.1f ", (double)(now(CLOCK_MONOTONIC) - begin) / (double)(events - 100));
    printf("%.1f\n", (double)(now(processor) - used) / (double)(events - 100));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
