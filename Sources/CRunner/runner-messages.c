/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runner-messages.c: the messages of runner.h, for Linux and macOS.
 */
#define _GNU_SOURCE

#include "runner.h"

#if defined(__linux__) || defined(__APPLE__)
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__
#define SEND_FLAGS MSG_NOSIGNAL
#define RECEIVE_FLAGS MSG_CMSG_CLOEXEC
/** The descriptors of a message for which there is room; Linux opens no others. */
#define DESCRIPTOR_COUNT 8
#else
/* The sockets have SO_NOSIGPIPE instead. */
#define SEND_FLAGS 0
#define RECEIVE_FLAGS 0
/** As many as a message can carry: macOS opens all of them, also those for whose numbers there is no room. */
#define DESCRIPTOR_COUNT 256
#endif

int64_t runner_send(int32_t socket, const void *bytes, uint64_t length, int32_t descriptor, int32_t waits) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    if (descriptor >= 0) {
        const int number = descriptor;
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.space;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof number);
        memcpy(CMSG_DATA(header), &number, sizeof number);
    }
    const int flags = SEND_FLAGS | (waits ? 0 : MSG_DONTWAIT);
    for (;;) {
        /* In most sandboxes there is no sendmsg. */
        const ssize_t count = descriptor < 0 ? send(socket, bytes, length, flags) : sendmsg(socket, &message, flags);
        if (count >= 0) return count;
        if (errno != EINTR) return -errno;
    }
}

int64_t runner_receive(int32_t socket, void *bytes, uint64_t capacity, int32_t *descriptor, int32_t waits) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(DESCRIPTOR_COUNT * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    ssize_t count;
    *descriptor = -1;
    do {
        count = recvmsg(socket, &message, RECEIVE_FLAGS | (waits ? 0 : MSG_DONTWAIT));
    } while (count < 0 && errno == EINTR);
    /* macOS answers EMSGSIZE where there is no room for the descriptor. */
    if (count < 0) return errno == EMSGSIZE ? -EMFILE : -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t total = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < total; index++) {
            int number;
            memcpy(&number, CMSG_DATA(header) + index * sizeof number, sizeof number);
            /* A message carries at most one; any others are closed. */
            if (*descriptor < 0) {
#ifdef __APPLE__
                fcntl(number, F_SETFD, FD_CLOEXEC);
#endif
                *descriptor = number;
            } else {
                close(number);
            }
        }
    }
    return count;
}
#endif
