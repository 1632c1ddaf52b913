/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0 */

#include "CNATS.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The types and functions of nats.h that are used; they are the same in every version 3 since 3.4. */
typedef struct natsOptions natsOptions;
typedef struct natsConnection natsConnection;
typedef struct natsSubscription natsSubscription;
typedef struct natsMsg natsMsg;
typedef int natsStatus;
typedef void (*natsMsgHandler)(natsConnection *, natsSubscription *, natsMsg *, void *);
typedef void (*natsErrHandler)(natsConnection *, natsSubscription *, natsStatus, void *);
typedef void (*natsOnCompleteCB)(void *);
typedef void (*natsConnectionHandler)(natsConnection *, void *);
typedef natsStatus (*natsUserJWTHandler)(char **, char **, void *);
typedef natsStatus (*natsSignatureHandler)(char **, unsigned char **, int *, const char *, void *);

/* NATS_PROTOCOL_ERROR, NATS_NO_SERVER, NATS_SECURE_CONNECTION_WANTED, NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED,
 * NATS_MAX_PAYLOAD, NATS_NO_MEMORY, NATS_TIMEOUT and NATS_SSL_ERROR of status.h. */
enum {
    protocol_error = 2,
    no_server = 6,
    no_encryption = 8,
    refused = 11,
    not_permitted = 12,
    too_large = 21,
    no_memory = 24,
    timed_out = 26,
    ssl_error = 29
};

#define CNATS_FUNCTIONS(X)                                                                                            \
    X(natsStatus, nats_Open, (int64_t))                                                                               \
    X(uint32_t, nats_GetVersionNumber, (void))                                                                        \
    X(const char *, nats_GetVersion, (void))                                                                          \
    X(const char *, nats_GetLastError, (natsStatus *))                                                                \
    X(const char *, natsStatus_GetText, (natsStatus))                                                                 \
    X(natsStatus, natsOptions_Create, (natsOptions **))                                                               \
    X(void, natsOptions_Destroy, (natsOptions *))                                                                     \
    X(natsStatus, natsOptions_SetServers, (natsOptions *, const char **, int))                                        \
    X(natsStatus, natsOptions_SetName, (natsOptions *, const char *))                                                 \
    X(natsStatus, natsOptions_SetTimeout, (natsOptions *, int64_t))                                                   \
    X(natsStatus, natsOptions_SetToken, (natsOptions *, const char *))                                                \
    X(natsStatus, natsOptions_SetUserInfo, (natsOptions *, const char *, const char *))                               \
    X(natsStatus, natsOptions_SetUserCredentialsCallbacks,                                                            \
      (natsOptions *, natsUserJWTHandler, void *, natsSignatureHandler, void *))                                      \
    X(natsStatus, nats_Sign, (const char *, const char *, unsigned char **, int *))                                   \
    X(natsStatus, natsOptions_SetSecure, (natsOptions *, bool))                                                       \
    X(natsStatus, natsOptions_LoadCATrustedCertificates, (natsOptions *, const char *))                               \
    X(natsStatus, natsOptions_LoadCertificatesChain, (natsOptions *, const char *, const char *))                     \
    X(natsStatus, natsOptions_SetSendAsap, (natsOptions *, bool))                                                     \
    X(natsStatus, natsOptions_SetMaxReconnect, (natsOptions *, int))                                                  \
    X(natsStatus, natsOptions_SetReconnectWait, (natsOptions *, int64_t))                                             \
    X(natsStatus, natsOptions_SetPingInterval, (natsOptions *, int64_t))                                              \
    X(natsStatus, natsOptions_SetMaxPingsOut, (natsOptions *, int))                                                   \
    X(natsStatus, natsOptions_SetWriteDeadline, (natsOptions *, int64_t))                                             \
    X(natsStatus, natsOptions_SetErrorHandler, (natsOptions *, natsErrHandler, void *))                               \
    X(natsStatus, natsOptions_SetClosedCB, (natsOptions *, natsConnectionHandler, void *))                            \
    X(natsStatus, natsConnection_Connect, (natsConnection **, natsOptions *))                                         \
    X(natsStatus, natsConnection_Subscribe,                                                                           \
      (natsSubscription **, natsConnection *, const char *, natsMsgHandler, void *))                                  \
    X(natsStatus, natsConnection_PublishMsg, (natsConnection *, natsMsg *))                                           \
    X(int64_t, natsConnection_GetMaxPayload, (natsConnection *))                                                      \
    X(natsStatus, natsConnection_FlushTimeout, (natsConnection *, int64_t))                                           \
    X(void, natsConnection_Close, (natsConnection *))                                                                 \
    X(void, natsConnection_Destroy, (natsConnection *))                                                               \
    X(natsStatus, natsSubscription_SetPendingLimits, (natsSubscription *, int, int))                                  \
    X(natsStatus, natsSubscription_SetOnCompleteCB, (natsSubscription *, natsOnCompleteCB, void *))                   \
    X(natsStatus, natsSubscription_Unsubscribe, (natsSubscription *))                                                 \
    X(void, natsSubscription_Destroy, (natsSubscription *))                                                           \
    X(natsStatus, natsMsg_Create, (natsMsg **, const char *, const char *, const char *, int))                        \
    X(void, natsMsg_Destroy, (natsMsg *))                                                                             \
    X(const char *, natsMsg_GetSubject, (const natsMsg *))                                                            \
    X(const char *, natsMsg_GetReply, (const natsMsg *))                                                              \
    X(const char *, natsMsg_GetData, (const natsMsg *))                                                               \
    X(int, natsMsg_GetDataLength, (const natsMsg *))                                                                  \
    X(natsStatus, natsMsgHeader_Set, (natsMsg *, const char *, const char *))                                         \
    X(natsStatus, natsMsgHeader_Get, (natsMsg *, const char *, const char **))

/* The functions of the library that was opened. */
static struct {
#define CNATS_MEMBER(result, name, parameters) result(*name) parameters;
    CNATS_FUNCTIONS(CNATS_MEMBER)
#undef CNATS_MEMBER
} nats;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

struct cnats_connection {
    natsConnection *connection;
    natsSubscription *subscription;
    struct cnats_handlers handlers;
    /* The user's JWT, and the seed that signs for it; null for none. */
    char *jwt, *seed;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    /* Whether the last message has been handled, and whether the library has reported that the connection is closed. */
    bool has_completed, has_closed;
};

static void *open_library(void) {
#ifdef __APPLE__
    return dlopen("libnats.dylib", RTLD_NOW | RTLD_LOCAL);
#else
    /* The file name contains the minor version. The newest comes first: those before 3.8 spin while a server does not answer
     * (github.com/nats-io/nats.c, pull request 707), and those before 3.11 wait for it without a limit in a TLS handshake. */
    for (int minor = 31; minor >= 4; minor--) {
        char name[32];
        snprintf(name, sizeof name, "libnats.so.3.%d", minor);
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) return library;
    }
    return dlopen("libnats.so", RTLD_NOW | RTLD_LOCAL);
#endif
}

static void load(void) {
    void *library = open_library();
    if (library == NULL) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
    void *symbol;
#define CNATS_RESOLVE(result, name, parameters)                                                                       \
    symbol = dlsym(library, #name);                                                                                   \
    if (symbol == NULL) {                                                                                             \
        snprintf(failure, sizeof failure, "the library has no " #name);                                               \
        return;                                                                                                       \
    }                                                                                                                 \
    memcpy(&nats.name, &symbol, sizeof symbol);
    CNATS_FUNCTIONS(CNATS_RESOLVE)
#undef CNATS_RESOLVE
    uint32_t version = nats.nats_GetVersionNumber();
    if (version < CNATS_VERSION || version >> 16 != CNATS_VERSION >> 16)
        snprintf(failure, sizeof failure, "the library's version is %s; 3.4 or a later 3 is needed", nats.nats_GetVersion());
    /* The library's locks spin 2000 times before they wait, and one is held while the system sends. If the application has
     * already opened the library, it keeps its settings. */
    if (failure[0] == 0) nats.nats_Open(0);
}

const char *cnats_load(void) {
    pthread_once(&once, load);
    return failure[0] == 0 ? NULL : failure;
}

static void take(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
    (void)connection;
    (void)subscription;
    struct cnats_connection *taker = closure;
    taker->handlers.take(taker->handlers.context, (struct cnats_message *)message);
    nats.natsMsg_Destroy(message);
}

static void note(struct cnats_connection *connection, bool *what) {
    pthread_mutex_lock(&connection->mutex);
    *what = true;
    pthread_cond_signal(&connection->condition);
    pthread_mutex_unlock(&connection->mutex);
}

static void complete(void *closure) {
    struct cnats_connection *connection = closure;
    note(connection, &connection->has_completed);
}

/* The library calls it once for each connection, whoever closes that. */
static void finish(natsConnection *closed, void *closure) {
    struct cnats_connection *connection = closure;
    (void)closed;
    connection->handlers.end(connection->handlers.context);
    note(connection, &connection->has_closed);
}

static void describe(natsStatus status, char *reason, size_t size) {
    natsStatus last = 0;
    const char *detail = nats.nats_GetLastError(&last);
    const char *text = nats.natsStatus_GetText(status);
    /* The library begins some with a place in its source. */
    const char *place = detail != NULL && detail[0] == '(' ? strstr(detail, "): ") : NULL;
    if (place != NULL) detail = place + 3;
    if (last != 0 && detail != NULL && detail[0] != 0 && strcmp(detail, text) != 0)
        snprintf(reason, size, "%s (%s)", text, detail);
    else
        snprintf(reason, size, "%s", text);
}

/* Tells what the server denies, because the request gets no answer. Other errors show in how long requests take. Without this
 * function, the library would write to standard error. */
static void deny(natsConnection *from, natsSubscription *subscription, natsStatus status, void *closure) {
    struct cnats_connection *connection = closure;
    (void)from;
    (void)subscription;
    if (status != not_permitted) return;
    const char *detail = nats.nats_GetLastError(NULL);
    connection->handlers.deny(connection->handlers.context, detail != NULL ? detail : "");
}

/* The library takes possession of the copy. */
static natsStatus give_user(char **jwt, char **problem, void *closure) {
    struct cnats_connection *connection = closure;
    (void)problem;
    *jwt = strdup(connection->jwt);
    return *jwt != NULL ? 0 : no_memory;
}

static natsStatus sign(char **problem, unsigned char **signature, int *length, const char *nonce, void *closure) {
    struct cnats_connection *connection = closure;
    (void)problem;
    /* A server that asks for no credentials sends nothing to sign. */
    if (nonce == NULL || *nonce == '\0') return 0;
    return nats.nats_Sign(connection->seed, nonce, signature, length);
}

/* The library's own reader of files takes a carriage return at the end of a line for a part of the seed. */
static natsStatus set_user(natsOptions *made, struct cnats_connection *connection, const struct cnats_options *options) {
    connection->jwt = strdup(options->jwt);
    connection->seed = strdup(options->seed);
    if (connection->jwt == NULL || connection->seed == NULL) return no_memory;
    return nats.natsOptions_SetUserCredentialsCallbacks(made, give_user, connection, sign, connection);
}

/* Splits the list of servers. */
static natsStatus set_servers(natsOptions *made, const char *url) {
    size_t most = 1;
    for (const char *text = url; *text != '\0'; text++) most += *text == ',';
    const char **servers = calloc(most, sizeof *servers);
    char *texts = strdup(url), *rest = NULL;
    natsStatus status = no_memory;
    if (servers != NULL && texts != NULL) {
        int count = 0;
        for (char *server = strtok_r(texts, ",", &rest); server != NULL; server = strtok_r(NULL, ",", &rest))
            servers[count++] = server;
        status = nats.natsOptions_SetServers(made, servers, count);
    }
    free(servers);
    free(texts);
    return status;
}

static natsStatus set(natsOptions *made, struct cnats_connection *connection, const struct cnats_options *options) {
    natsStatus status = set_servers(made, options->url);
    if (status == 0) status = nats.natsOptions_SetName(made, options->name);
    if (status == 0) status = nats.natsOptions_SetTimeout(made, options->timeout);
    if (status == 0 && options->token != NULL) status = nats.natsOptions_SetToken(made, options->token);
    if (status == 0 && options->user != NULL)
        status = nats.natsOptions_SetUserInfo(made, options->user, options->password);
    if (status == 0 && options->jwt != NULL) status = set_user(made, connection, options);
    if (status == 0 && options->is_encrypted) status = nats.natsOptions_SetSecure(made, true);
    if (status == 0 && options->authorities != NULL)
        status = nats.natsOptions_LoadCATrustedCertificates(made, options->authorities);
    if (status == 0 && options->certificate != NULL)
        status = nats.natsOptions_LoadCertificatesChain(made, options->certificate, options->key);
    if (status == 0) status = nats.natsOptions_SetSendAsap(made, true);
    if (status == 0) status = nats.natsOptions_SetMaxReconnect(made, -1);
    if (status == 0) status = nats.natsOptions_SetReconnectWait(made, 250);
    /* A server that vanished without a word is given up after twice this time. */
    if (status == 0) status = nats.natsOptions_SetPingInterval(made, 5000);
    if (status == 0) status = nats.natsOptions_SetMaxPingsOut(made, 1);
    if (status == 0) status = nats.natsOptions_SetWriteDeadline(made, 2000);
    return status;
}

static void release(struct cnats_connection *connection) {
    if (connection->connection != NULL) {
        nats.natsConnection_Close(connection->connection);
        /* Closing ends the subscription; its last message may still be in progress, and the end still to be reported. */
        pthread_mutex_lock(&connection->mutex);
        while (!connection->has_completed || !connection->has_closed)
            pthread_cond_wait(&connection->condition, &connection->mutex);
        pthread_mutex_unlock(&connection->mutex);
        if (connection->subscription != NULL) nats.natsSubscription_Destroy(connection->subscription);
        nats.natsConnection_Destroy(connection->connection);
    }
    pthread_mutex_destroy(&connection->mutex);
    pthread_cond_destroy(&connection->condition);
    free(connection->jwt);
    free(connection->seed);
    free(connection);
}

/* Before 3.8, the library leaves out a signature whose first byte is zero, which happens once in 256 times, and the server
 * refuses the user (github.com/nats-io/nats.c, pull request 705). The next connection signs something else. */
static natsStatus dial(struct cnats_connection *connection, natsOptions *made, bool is_signed) {
    natsStatus status = refused;
    for (int attempts = is_signed ? 3 : 1; status == refused && attempts > 0; attempts--)
        status = nats.natsConnection_Connect(&connection->connection, made);
    return status;
}

struct cnats_connection *cnats_connect(const struct cnats_options *options, const char *inbox,
                                       const struct cnats_handlers *handlers, int32_t *status_out, char *reason, size_t size) {
    struct cnats_connection *connection = calloc(1, sizeof *connection);
    natsOptions *made = NULL;
    char subject[256];
    *status_out = no_memory;
    if (connection == NULL) {
        snprintf(reason, size, "no memory");
        return NULL;
    }
    pthread_mutex_init(&connection->mutex, NULL);
    pthread_cond_init(&connection->condition, NULL);
    connection->handlers = *handlers;
    snprintf(subject, sizeof subject, "%s.*", inbox);
    natsStatus status = nats.natsOptions_Create(&made);
    if (status == 0) status = set(made, connection, options);
    if (status == 0) status = nats.natsOptions_SetErrorHandler(made, deny, connection);
    if (status == 0) status = nats.natsOptions_SetClosedCB(made, finish, connection);
    if (status == 0) status = dial(connection, made, options->jwt != NULL);
    if (status == 0)
        status = nats.natsConnection_Subscribe(&connection->subscription, connection->connection, subject, take, connection);
    if (status == 0) status = nats.natsSubscription_SetOnCompleteCB(connection->subscription, complete, connection);
    if (status != 0) connection->has_completed = true;
    /* Nothing arrives that was not asked for, so no limit is needed, and a limit would lose what was. */
    if (status == 0) status = nats.natsSubscription_SetPendingLimits(connection->subscription, -1, -1);
    if (status != 0) describe(status, reason, size);
    *status_out = status;
    if (made != NULL) nats.natsOptions_Destroy(made);
    if (status == 0) return connection;
    release(connection);
    return NULL;
}

int32_t cnats_publish(struct cnats_connection *connection, const char *subject, const char *reply,
                      const struct cnats_headers *headers, const void *data, size_t size) {
    natsMsg *message = NULL;
    if (size > INT32_MAX) return too_large;
    natsStatus status = nats.natsMsg_Create(&message, subject, reply, data, (int)size);
    if (status == 0 && headers->id != NULL) status = nats.natsMsgHeader_Set(message, "Nats-Msg-Id", headers->id);
    if (status == 0 && headers->event != NULL)
        status = nats.natsMsgHeader_Set(message, "Connector-Event", headers->event);
    if (status == 0 && headers->failure != NULL)
        status = nats.natsMsgHeader_Set(message, "Connector-Failure", headers->failure);
    if (status == 0) status = nats.natsConnection_PublishMsg(connection->connection, message);
    if (message != NULL) nats.natsMsg_Destroy(message);
    return status;
}

void cnats_close(struct cnats_connection *connection) {
    nats.natsConnection_FlushTimeout(connection->connection, 1000);
    release(connection);
}

int64_t cnats_max_payload(struct cnats_connection *connection) {
    return nats.natsConnection_GetMaxPayload(connection->connection);
}

const char *cnats_text(int32_t status) { return nats.natsStatus_GetText(status); }

bool cnats_is_too_large(int32_t status) { return status == too_large; }

bool cnats_is_unreachable(int32_t status) { return status == no_server; }

bool cnats_is_overdue(int32_t status) { return status == timed_out; }

bool cnats_lacks_encryption(int32_t status) { return status == no_encryption; }

bool cnats_is_cut_off(int32_t status) { return status == protocol_error; }

bool cnats_failed_handshake(int32_t status) { return status == ssl_error; }

const char *cnats_subject(const struct cnats_message *message) {
    return nats.natsMsg_GetSubject((const natsMsg *)message);
}

const char *cnats_reply(const struct cnats_message *message) { return nats.natsMsg_GetReply((const natsMsg *)message); }

const void *cnats_data(const struct cnats_message *message) { return nats.natsMsg_GetData((const natsMsg *)message); }

size_t cnats_size(const struct cnats_message *message) {
    return (size_t)nats.natsMsg_GetDataLength((const natsMsg *)message);
}

const char *cnats_header(struct cnats_message *message, const char *name) {
    const char *value = NULL;
    return nats.natsMsgHeader_Get((natsMsg *)message, name, &value) == 0 ? value : NULL;
}
