/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * publish: publishes messages to a stream of JetStream, each with an id and one more header, as the outbox does; prints the nanoseconds
 * for each until its acknowledgement, and the processor time.
 *
 *   publish URL SUBJECT FIRST MESSAGES BYTES AT-ONCE
 */
#define _POSIX_C_SOURCE 200809L
#include <nats/nats.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static long failures;

static void note(jsCtx *context, jsPubAckErr *error, void *closure) {
    (void)context;
    (void)closure;
    if (failures++ == 0) fprintf(stderr, "publish: %s\n", error->ErrText);
}

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    fprintf(stderr, "publish: %s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 7) return 64;
    long first = atol(arguments[3]), messages = atol(arguments[4]), bytes = atol(arguments[5]);
    natsOptions *options;
    natsConnection *connection;
    jsCtx *context;
    jsOptions settings;
    const char *servers[16];
    int known = 0;
    char id[40], event[200], *payload = malloc((size_t)bytes), *rest = NULL;
    if (payload == NULL) return 1;
    memset(payload, 'x', (size_t)bytes);
    for (char *server = strtok_r(arguments[1], ",", &rest); server != NULL && known < 16; server = strtok_r(NULL, ",", &rest))
        servers[known++] = server;
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetServers(options, servers, known), "servers");
    check(natsOptions_SetSendAsap(options, true), "options");
    check(natsConnection_Connect(&connection, options), "connect");
    check(jsOptions_Init(&settings), "options");
    settings.PublishAsync.MaxPending = atol(arguments[6]);
    settings.PublishAsync.StallWait = 60000;
    settings.PublishAsync.ErrHandler = note;
    check(natsConnection_JetStream(&context, connection, &settings), "context");
    uint64_t start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long number = first; number < first + messages; number++) {
        natsMsg *message;
        snprintf(id, sizeof id, "bench-%030ld", number);
        snprintf(event, sizeof event, "1767225600000000000 analytics=2F1 track %s", id);
        check(natsMsg_Create(&message, arguments[2], NULL, payload, (int)bytes), "message");
        check(natsMsgHeader_Set(message, "Nats-Msg-Id", id), "header");
        check(natsMsgHeader_Set(message, "Connector-Event", event), "header");
        check(js_PublishMsgAsync(context, &message, NULL), "publish");
    }
    check(js_PublishAsyncComplete(context, NULL), "acknowledgements");
    double time = (double)(now(CLOCK_MONOTONIC) - start), cost = (double)(now(CLOCK_PROCESS_CPUTIME_ID) - used);
    printf("%.1f %.1f\n", time / (double)messages, cost / (double)messages);
    jsCtx_Destroy(context);
    natsConnection_Destroy(connection);
    natsOptions_Destroy(options);
    nats_Close();
    free(payload);
    return failures != 0;
}
