/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Refusals that the host knows of: seccomp_unotify(2). The filter asks instead of refusing, and the host answers. It only ever refuses,
 * by the number of the call alone, so nothing that the plugin changes meanwhile matters.
 */
#define _GNU_SOURCE

#include <sandbox.h>

#ifdef __linux__
#include "filter.h"
#include "rules.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/** A listener on its way to the parent. */
typedef struct delivery {
    sem_t is_due;
    int socket, listener, error;
} delivery;

static int send_listener(int socket, int listener) {
    int32_t none = 0;
    struct iovec part = {.iov_base = &none, .iov_len = sizeof none};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof listener);
    memcpy(CMSG_DATA(&control.header), &listener, sizeof listener);
    const struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

/** On a thread without the filter, which refuses to send descriptors. */
static void *deliver(void *context) {
    delivery *delivery = context;
    while (sem_wait(&delivery->is_due) != 0) {}
    if (delivery->listener >= 0) delivery->error = send_listener(delivery->socket, delivery->listener);
    return NULL;
}

int sandbox_filter_report(const sandbox_settings *settings) {
    delivery delivery = {.socket = settings->successor};
    pthread_t thread;
    sem_init(&delivery.is_due, 0, 0);
    const int error = pthread_create(&thread, NULL, deliver, &delivery);
    if (error != 0) return error;
    delivery.listener = sandbox_filter_ask(settings, SANDBOX_ASKS_REFUSED);
    sem_post(&delivery.is_due);
    /* Once it has ended, no thread is without the filter. */
    pthread_join(thread, NULL);
    sem_destroy(&delivery.is_due);
    if (delivery.listener < 0) return -delivery.listener;
    close(delivery.listener);
    return delivery.error;
}

/** Whether a check lets a call pass under a set of conditions. */
static int passes(const sandbox_check *check, uint8_t set, const struct seccomp_data *call) {
    if (check == NULL || (check->lifted_by & set) != 0) return 1;
    const uint64_t argument = call->args[check->argument];
    const uint32_t value = (uint32_t)argument & (check->mask != 0 ? check->mask : UINT32_MAX);
    if (check->is_wide && argument > UINT32_MAX) return 0;
    for (uint32_t index = 0; index < check->count; index++) {
        if (value == check->values[index]) return !check->is_refused;
    }
    return check->is_refused;
}

/** The setting that allows a call with its arguments; null if none does. */
static const char *setting_for(const sandbox_rule *rule, const struct seccomp_data *call) {
    static const struct {
        uint8_t condition;
        const char *name;
    } settings[] = {{SANDBOX_NETWORK, "network"}, {SANDBOX_NAMING, "read"}, {SANDBOX_WRITING, "write"}};
    for (size_t index = 0; index < sizeof settings / sizeof *settings; index++) {
        const uint8_t set = SANDBOX_ALWAYS | settings[index].condition;
        if ((rule->when & set) == 0) continue;
        if (passes(rule->check, set, call) && passes(rule->also, set, call)) return settings[index].name;
    }
    return NULL;
}

/**
 * Whether a call is the C library's own, which goes on without: looking up a user begins with the socket of nscd(8), and syslog(3) makes
 * one. Nearly every plugin with a runtime comes there: Dispatch logs that it may not raise the priority of its threads.
 */
static int is_dispensable(const sandbox_rule *rule, const struct seccomp_data *call) {
    if (strcmp(rule->name, "socket") != 0 || call->args[0] != AF_UNIX) return 0;
    return call->args[1] == (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK) || call->args[1] == (SOCK_DGRAM | SOCK_CLOEXEC);
}

int32_t sandbox_refuse(int32_t listener, sandbox_refusal *refusal) {
    sandbox_notice question = {.room = {0}}, reply = {.room = {0}};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return errno == EINTR || errno == ENOENT ? 0 : -errno;
    const sandbox_rule *rule = sandbox_rule_of(question.asked.data.nr);
    reply.answer.id = question.asked.id;
    reply.answer.error = rule == NULL ? -ENOSYS : -(int)rule->refusal;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0) return errno == ENOENT ? 0 : -errno;
    if (rule == NULL || is_dispensable(rule, &question.asked.data)) return 0;
    *refusal = (sandbox_refusal){question.asked.data.nr, rule->name, rule->reason, setting_for(rule, &question.asked.data)};
    return 1;
}
#endif
