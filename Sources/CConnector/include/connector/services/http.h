/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/http.h: "http/1", HTTP requests to the hosts that the connector may reach.
 *
 * The host owns sockets, TLS, pools, proxies, timeouts and limits. It refuses a forbidden host before it connects,
 * and on every redirect.
 *
 * The host may use a proxy, by default that of the environment variables https_proxy, http_proxy and no_proxy. It opens
 * a tunnel through the proxy (CONNECT); the plugin sees no difference. If the proxy cannot be reached or refuses, the
 * status is CONNECTOR_UNAVAILABLE and the message names the proxy. A server's certificate must be valid for the URL's
 * host, and be issued by an authority that the system trusts or that the host is configured to trust, by default in
 * SSL_CERT_FILE. The host shows no certificate of its own: a server that requires one cannot be reached.
 *
 * The host follows up to five redirects. 303 turns any request but HEAD into a GET, and 301 to 303 drop the body of a GET. Any
 * other redirect repeats the request unchanged, also a POST at 301 and 302, which browsers turn into a GET. For another scheme, host
 * or port the host drops Authorization, Cookie and every header with a secret, and never sends a body with a secret; it
 * never goes from https to http. It decompresses responses, except those of status 206, and asks for `identity` if the
 * request has Range. It sets Host, Content-Length and the other headers of the connection, and drops a plugin's values
 * for them.
 *
 * The host sends a GET, HEAD or OPTIONS, and a PUT without If-Match, If-None-Match and If-Unmodified-Since, again whenever the
 * server closes a connection that it had kept open before it begins to answer, and thus at the latest over a new connection,
 * unless the body comes in parts. Every other failure ends the request.
 *
 * Where the connector's configuration allows it, the host keeps responses to GET as RFC 9111 permits a private cache,
 * each for requests with the same Authorization, and may answer from the cache, with the header Age, or only ask the
 * server whether a response is still valid. A request's own Cache-Control is honoured; one with Range or a condition
 * (If-None-Match, …) always goes to the server.
 *
 * Secrets: wherever the URL, a header's value or the body contains {{secret:NAME}}, the host inserts the value of the
 * configuration field NAME: percent-encoded in a URL, escaped as in a JSON string if the body's content type is JSON
 * (application/json or +json), verbatim otherwise. {{base64:TEXT}} becomes the Base64 (RFC 4648, section 4) of TEXT, in
 * which the host first inserts secrets verbatim, so {{base64:{{secret:key}}:}} yields the credentials of HTTP Basic
 * authentication; in a URL the Base64 is percent-encoded. A NAME without a value is an error in a URL or a header, and
 * stays unchanged in a body.
 *
 * Signatures: {{sha256:TEXT}} becomes the SHA-256 (FIPS 180-4) of TEXT, and {{hmac-sha256:KEY|TEXT|...}} a chain of
 * HMAC-SHA256 (RFC 2104): the code of the first TEXT under KEY is the key of the second, and so on; the last code is
 * inserted. Both are 64 hexadecimal digits in lower case. In TEXT and KEY the host first inserts secrets verbatim, and
 * in those of hmac-sha256 also the digests of {{sha256:TEXT}}. Write TEXT and KEY without "}}", and, except in
 * {{sha256:TEXT}}, without "|"; a secret's value may contain both. Any number of TEXTs but 1 to 15 is an error in a URL or
 * a header; in a body, the placeholder stays unchanged. So
 * {{hmac-sha256:AWS4{{secret:key}}|20130524|us-east-1|s3|aws4_request|TEXT}} is a signature of AWS Signature Version 4.
 *
 * An adapter may forward foreign text safely: the host inserts only fields that the adapter's own manifest declares
 * secret, and sends them only to hosts that the connector may reach. An adapter that forwards foreign text still sets
 * CONNECTOR_HTTP_VERBATIM_BODY unless it needs a secret in the body.
 */
#ifndef CONNECTOR_SERVICES_HTTP_H
#define CONNECTOR_SERVICES_HTTP_H

#include "../operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_HTTP_SERVICE "http/1"

/** The host sends the body verbatim, without inserting secrets. */
#define CONNECTOR_HTTP_VERBATIM_BODY 1u
/** The host compresses the body with gzip (RFC 1952) and adds Content-Encoding. */
#define CONNECTOR_HTTP_GZIP_BODY 2u
/** For `stream`: the body comes in parts, by `write`. `body` is null, and `body_length` the length of the whole body. */
#define CONNECTOR_HTTP_BODY_IN_PARTS 4u
/**
 * The host follows no redirect that would make the request a GET, which is 303 unless the method is GET or HEAD: the answer to
 * the GET could pass for one to a write. The request fails with CONNECTOR_PROTOCOL. An older host follows it.
 */
#define CONNECTOR_HTTP_KEEP_METHOD 8u
/**
 * For `request`: the host follows no redirect to another origin, but hands it over as the response. For a request whose signature names
 * its host, and for a vendor that says in such a response where the request belongs. An older host follows it.
 */
#define CONNECTOR_HTTP_KEEP_ORIGIN 16u
/** The `body_length` of a body in parts whose length is not known. */
#define CONNECTOR_HTTP_UNKNOWN_LENGTH UINT64_MAX
/** The most bytes of one part of a body. */
#define CONNECTOR_HTTP_PART_LIMIT 1048576u

/** One header field; comparisons of the name ignore case. Borrowed as part of its request or response. */
typedef struct connector_http_header {
    const char *CONNECTOR_NONNULL name;
    uint64_t name_length;
    const char *CONNECTOR_NONNULL value;
    uint64_t value_length;
} connector_http_header;

/** A request, borrowed for the duration of connector_http.request. */
typedef struct connector_http_request {
    uint32_t struct_size;
    /** CONNECTOR_HTTP_ constants, or'ed. */
    uint32_t flags;
    /** "GET", "POST", … */
    const char *CONNECTOR_NONNULL method;
    uint64_t method_length;
    /**
     * The absolute URL, http or https. At most 8192 bytes, with its secrets inserted, too. The percent-encoded bytes of
     * its path are UTF-8; a request with others is CONNECTOR_INVALID.
     */
    const char *CONNECTOR_NONNULL url;
    uint64_t url_length;
    /** At most 256. Together with the URL, and with their secrets inserted, they have at most 60 KiB. */
    const connector_http_header *CONNECTOR_NULLABLE headers;
    uint64_t header_count;
    const uint8_t *CONNECTOR_NULLABLE body;
    uint64_t body_length;
    /** When the request times out, in monotonic nanoseconds; CONNECTOR_NO_DEADLINE leaves it to the host (30 s). */
    uint64_t deadline_ns;
    /**
     * The plugin's own call that this request serves: its connector_call.operation. When the host gives that call up, it
     * cancels the request. 0 for none. An older host does not read it: the request then goes on.
     */
    uint64_t during;
} connector_http_request;

/** A response, borrowed for the duration of connector_http_done. */
typedef struct connector_http_response {
    uint32_t struct_size;
    /** 100 to 999. */
    uint32_t status;
    /** At most 256 by HTTP/1.1, each name and value of at most 80 KiB; an answer with more fails with CONNECTOR_PROTOCOL. */
    const connector_http_header *CONNECTOR_NULLABLE headers;
    uint64_t header_count;
    const uint8_t *CONNECTOR_NULLABLE body;
    uint64_t body_length;
} connector_http_response;

/**
 * Receives the end of a request, exactly once: `status` CONNECTOR_OK and a response (of any HTTP status), or a failure and an
 * error: CONNECTOR_DENIED (host not allowed), CONNECTOR_UNAVAILABLE (refused, reset, no such host, TLS, or
 * the host's own proxy or authorities cannot be read), CONNECTOR_TIMED_OUT,
 * CONNECTOR_TOO_LARGE (request over the limit, with its secrets), CONNECTOR_PROTOCOL (the answer is over the limit or not
 * HTTP, or redirects too often, to another scheme than http or https, from https to http, to a host that is not
 * allowed, or with a secret in the body to another origin), CONNECTOR_RATE_LIMITED (the answers to the connector's
 * requests in progress have too much, or the requests need too many connections), CONNECTOR_CANCELLED, CONNECTOR_INVALID.
 * Runs on a thread of the host, one at a time for a gate, and must not block. It never runs inside `request` on the
 * caller's thread, but may run on another thread before `request` has returned: do not hold a lock that `done` takes
 * while you call `request`. It has run before the plugin's `destroy`, and never runs after it.
 */
typedef void (*connector_http_done)(void *CONNECTOR_NULLABLE user, int32_t status,
                                    const connector_http_response *CONNECTOR_NULLABLE response_borrowed,
                                    const connector_error *CONNECTOR_NULLABLE error_borrowed);

/**
 * Receives one part of a response. The first part has the headers and no body; each other part has no headers and the
 * bytes of the body that arrived together, at least 1. All have the status. Runs where connector_http_done runs, and
 * never after it.
 */
typedef void (*connector_http_part)(void *CONNECTOR_NULLABLE user,
                                    const connector_http_response *CONNECTOR_NONNULL part_borrowed);

/** Runs, where connector_http_part runs, once the host can take the next part of a body, or takes no more of it. */
typedef void (*connector_http_room)(void *CONNECTOR_NULLABLE user);

/** The receiver of a response in parts, borrowed for the duration of connector_http.stream. */
typedef struct connector_http_receiver {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    connector_http_part CONNECTOR_NONNULL part;
    /** Runs once, after the last part: with CONNECTOR_OK and a response without body, or with a failure. */
    connector_http_done CONNECTOR_NONNULL done;
    /** The first argument of all three. */
    void *CONNECTOR_NULLABLE user;
    /** The longest wait for a part after `resume`, in nanoseconds; then the request times out. 0: no limit. */
    uint64_t silence_ns;
    /**
     * For a request whose body comes in parts: runs after each `write` but the last, unless the request ends first. If
     * the rest of the body is not sent, the next `write` reports that.
     */
    connector_http_room CONNECTOR_NULLABLE room;
} connector_http_receiver;

/** The table of http/1. */
typedef struct connector_http {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /**
     * Sends a request. After CONNECTOR_OK, `done(user, …)` runs once; after a failure, it never runs. The host copies everything
     * before it returns. `*request_id` identifies the request to `cancel` and is set before `done` can run. [any]
     */
    int32_t (*CONNECTOR_NONNULL request)(void *CONNECTOR_NONNULL context,
                                         const connector_http_request *CONNECTOR_NONNULL request_borrowed,
                                         connector_http_done CONNECTOR_NONNULL done, void *CONNECTOR_NULLABLE user,
                                         uint64_t *CONNECTOR_NONNULL request_id,
                                         connector_error *CONNECTOR_NONNULL error);

    /** Cancels a request: `done` runs soon with CONNECTOR_CANCELLED, unless it has run already. Idempotent. [any] */
    void (*CONNECTOR_NONNULL cancel)(void *CONNECTOR_NONNULL context, uint64_t request_id);

    /**
     * Sends a request whose response comes in parts, as the server sends it: for long downloads, server-sent events and
     * watches. Like `request`, but the body is not limited in size and not decompressed (Accept-Encoding is `identity`
     * unless the plugin sets it). The first part comes unasked, every other one after a `resume`; meanwhile the host
     * reads at most one part ahead, so that the server waits, and delivers it before it reports that the connection
     * broke. Without a deadline, the host's own (30 s) applies until the response has begun and the body of the request
     * is sent, and starts again with each part of either. An older host does not have this function: check
     * CONNECTOR_HAS_FIELD. [any]
     */
    int32_t (*CONNECTOR_NONNULL stream)(void *CONNECTOR_NONNULL context,
                                        const connector_http_request *CONNECTOR_NONNULL request_borrowed,
                                        const connector_http_receiver *CONNECTOR_NONNULL receiver_borrowed,
                                        uint64_t *CONNECTOR_NONNULL request_id,
                                        connector_error *CONNECTOR_NONNULL error);

    /**
     * Asks for the next part; may be called within `part`. Has no effect if the next part is already asked for, or after
     * the end. [any]
     */
    void (*CONNECTOR_NONNULL resume)(void *CONNECTOR_NONNULL context, uint64_t request_id);

    /**
     * Sends the next part of a body that comes in parts, 0 to CONNECTOR_HTTP_PART_LIMIT bytes, which the host copies.
     * The first may be written as soon as `stream` has returned, each other after `room`; a part before that is
     * CONNECTOR_MISUSE, and so is one after the last. CONNECTOR_RATE_LIMITED, after which the same part may be written
     * again, says that the bodies of the connector's requests in progress have too much. Secrets are not inserted, and
     * nothing is compressed. The server may answer before the last part: the rest is not sent after a complete response,
     * nor once a response other than success (2xx) has begun. Returns CONNECTOR_UNKNOWN_OPERATION after a redirect, and
     * after the end of the request. A redirect that would need the body again fails with CONNECTOR_PROTOCOL. [any]
     */
    int32_t (*CONNECTOR_NONNULL write)(void *CONNECTOR_NONNULL context, uint64_t request_id,
                                       const uint8_t *CONNECTOR_NULLABLE part_borrowed, uint64_t length,
                                       uint32_t is_last, connector_error *CONNECTOR_NONNULL error);
} connector_http;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif
