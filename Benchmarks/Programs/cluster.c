/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * cluster FOLDER: starts three servers of NATS with JetStream on the loopback interface, below a folder that the caller makes and
 * removes, and prints their addresses, separated by commas. They end once nobody reads its output, and after an hour in any case.
 * Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { servers = 3 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Ports that nobody listens on: one of each server for clients, and one for the others. */
static void find_ports(int *ports) {
    int sockets[2 * servers];
    for (int index = 0; index < 2 * servers; index++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof address;
        sockets[index] = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(sockets[index], (struct sockaddr *)&address, length) != 0) fail("cluster: bind");
        if (getsockname(sockets[index], (struct sockaddr *)&address, &length) != 0) fail("cluster: port");
        ports[index] = ntohs(address.sin_port);
    }
    for (int index = 0; index < 2 * servers; index++) close(sockets[index]);
}

static void start(const char *folder, const int *ports, int index) {
    char port[16], store[4200], name[16], log[4200], here[64], routes[256];
    snprintf(port, sizeof port, "%d", ports[index]);
    snprintf(name, sizeof name, "n%d", index);
    snprintf(store, sizeof store, "%s/%s", folder, name);
    snprintf(log, sizeof log, "%s/%s.log", folder, name);
    snprintf(here, sizeof here, "nats://127.0.0.1:%d", ports[servers + index]);
    snprintf(routes, sizeof routes, "nats://127.0.0.1:%d,nats://127.0.0.1:%d,nats://127.0.0.1:%d", ports[servers],
             ports[servers + 1], ports[servers + 2]);
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail("cluster: fork");
    if (child > 0) return;
    /* The server ends with this program, however that ends. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execlp("nats-server", "nats-server", "-js", "-a", "127.0.0.1", "-p", port, "-sd", store, "-n", name, "-l", log,
           "--cluster_name", "bench", "--cluster", here, "--routes", routes, (char *)NULL);
    perror("nats-server");
    _exit(127);
}

int main(int count, char **arguments) {
    int ports[2 * servers];
    if (count != 2) return 64;
    find_ports(ports);
    for (int index = 0; index < servers; index++) start(arguments[1], ports, index);
    printf("nats://127.0.0.1:%d,nats://127.0.0.1:%d,nats://127.0.0.1:%d\n", ports[0], ports[1], ports[2]);
    fflush(stdout);
    struct pollfd wait = {.fd = STDOUT_FILENO};
    poll(&wait, 1, 3600 * 1000);
    return 0;
}
