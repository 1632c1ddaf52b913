/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0 */

/* What the outbox needs of libnats, the C client of NATS. The library is opened at run time, so an application that keeps
 * no events in NATS neither links nor loads it, and its headers are not needed to build.
 *
 * Every function but cnats_load() must be called only after that has succeeded. */
#ifndef CNATS_H
#define CNATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The oldest version of libnats that is accepted, as (major << 16) | (minor << 8) | patch. */
#define CNATS_VERSION 0x030400

/** A connection to one server of a cluster, replaced by one to another server when it is lost. */
struct cnats_connection;

/** A message; valid during the call that delivers it. */
struct cnats_message;

/** How to connect. Texts that are not needed are null. */
struct cnats_options {
    /** One or more, separated by commas: `nats://a:4222,nats://b:4222`. */
    const char *_Nonnull url;
    /** The name under which the server lists the connection. */
    const char *_Nonnull name;
    /** The user's JWT, and the seed that signs for it; both or neither. */
    const char *_Nullable jwt;
    const char *_Nullable seed;
    const char *_Nullable token;
    /** A name and its password; both or neither. */
    const char *_Nullable user;
    const char *_Nullable password;
    /** The path of a file with the certificates of the authorities to trust. */
    const char *_Nullable authorities;
    /** The paths of files with the client's certificate and its key; both or neither. */
    const char *_Nullable certificate;
    const char *_Nullable key;
    /** Whether the connection must be encrypted. */
    bool is_encrypted;
    /** The longest wait for one server to answer, in milliseconds. */
    int64_t timeout;
};

/** The headers of a message to send; null for those it lacks. */
struct cnats_headers {
    /** `Nats-Msg-Id`, by which the server recognizes a repetition. */
    const char *_Nullable id;
    /** `Connector-Event`: what the event is, apart from its payload. */
    const char *_Nullable event;
    /** `Connector-Failure`: why an event is a dead letter. */
    const char *_Nullable failure;
};

/** Takes a message, on a thread of the connection. It must not block. */
typedef void (*cnats_handler)(void *_Nullable context, struct cnats_message *_Nonnull message);

/** Reports that a connection is closed for good: cnats_close() was called, or the servers have refused the credentials twice.
 * Runs on a thread of the library; it must neither block nor call cnats_close(). */
typedef void (*cnats_end)(void *_Nullable context);

/** Reports that the server has denied a message or a subscription for lack of permission, in the server's words: `Permissions
 * Violation for Publish to "SUBJECT"`. Runs on a thread of the library; it must neither block nor call cnats_close(). */
typedef void (*cnats_denial)(void *_Nullable context, const char *_Nonnull text);

/** What a connection calls, until cnats_close() has returned. */
struct cnats_handlers {
    cnats_handler _Nonnull take;
    cnats_end _Nonnull end;
    cnats_denial _Nonnull deny;
    /** Passed to each of them. */
    void *_Nullable context;
};

/** Opens the library, once per process, on any thread. Returns null, or why it cannot be used; the text lives as long as the
 * process. */
const char *_Nullable cnats_load(void);

/** Connects, and subscribes to everything below `inbox`. Blocks: with a server that falls silent during the handshake, libnats
 * before 3.8, and with TLS before 3.11, until that connection ends.
 *
 * @param status Receives why it failed, for cnats_is_unreachable() and its like; 0 if it did not.
 * @param reason Receives why it failed, cut at `size`.
 * @return Null if it failed. */
struct cnats_connection *_Nullable cnats_connect(
    const struct cnats_options *_Nonnull options, const char *_Nonnull inbox,
    const struct cnats_handlers *_Nonnull handlers, int32_t *_Nonnull status, char *_Nonnull reason, size_t size);

/** Sends a message; on any thread. It blocks while the system's buffers are full, for 2 s at most, and while the library connects to
 * another server, as cnats_connect() does.
 *
 * @param reply Where answers go; null for nowhere.
 * @return 0, or a status for cnats_text(). */
int32_t cnats_publish(
    struct cnats_connection *_Nonnull connection, const char *_Nonnull subject, const char *_Nullable reply,
    const struct cnats_headers *_Nonnull headers, const void *_Nullable data, size_t size);

/** Sends what was published, ends the subscription and the connection. Blocks until the handlers have run for the last time,
 * so it must not be called on a thread of the library; no handler runs after it. While the library connects to another server, it blocks
 * as cnats_connect() does. */
void cnats_close(struct cnats_connection *_Nonnull connection);

/** The size of the largest message that the server takes, its headers included; 0 if it is not known. Blocks while the library connects
 * to another server, as cnats_connect() does. */
int64_t cnats_max_payload(struct cnats_connection *_Nonnull connection);

/** What a status means; static. */
const char *_Nonnull cnats_text(int32_t status);

/** Whether a status says that a message is larger than the server takes. */
bool cnats_is_too_large(int32_t status);

/** Whether a status says that no server was found. */
bool cnats_is_unreachable(int32_t status);

/** Whether a status says that connecting to the server took too long. */
bool cnats_is_overdue(int32_t status);

/** Whether a status says that the server offers no encryption, or that the library does not know that it does: before 3.8 it
 * knows only of servers that require it. */
bool cnats_lacks_encryption(int32_t status);

/** Whether a status says that the server spoke out of turn, or ended the connection without a word: as it does to a client
 * whose certificate it wants and does not get. */
bool cnats_is_cut_off(int32_t status);

/** Whether a status says that the TLS handshake failed: also with a server that refused the connection in clear text, such as
 * one that has as many as it may. */
bool cnats_failed_handshake(int32_t status);

/** The parts of a message; borrowed. Null if the message lacks the part. */
const char *_Nullable cnats_subject(const struct cnats_message *_Nonnull message);
const char *_Nullable cnats_reply(const struct cnats_message *_Nonnull message);
const void *_Nullable cnats_data(const struct cnats_message *_Nonnull message);
size_t cnats_size(const struct cnats_message *_Nonnull message);
const char *_Nullable cnats_header(struct cnats_message *_Nonnull message, const char *_Nonnull name);

#endif
