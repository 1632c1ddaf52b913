// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Written by `make embed`; not edited.
// swift-format-ignore-file

extension Embedded {
    /// The headers of the ABI, and those for authors.
    static let headers: [String: String] = [
"connector/author.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * author.h: what nearly every adapter in C needs, as functions in a header: JSON, percent-encoding, requests with
 * answers, and errors. It is not part of the ABI, and needs nothing but C99 and the C library; an adapter may well do
 * without it. Include it in one file or in many.
 *
 *   read JSON     connector_json_parse, then connector_json_member and connector_json_string, …
 *   write         connector_text_…: JSON, URLs, whatever has bytes
 *   fail          connector_fail
 *   complete      connector_complete_text, connector_complete_evidence, connector_complete_failure
 *   ask           connector_gate_create, then connector_send with a connector_exchange
 */
#ifndef CONNECTOR_AUTHOR_H
#define CONNECTOR_AUTHOR_H

#include "connector.h"
#include "layout.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

/**
 * Fills in an error, if there is one, and returns `status`. The message is one sentence for a person, formatted as by
 * printf, and cut between characters. RATE_LIMITED, UNAVAILABLE, TIMED_OUT and PROTOCOL are marked as retryable.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline int32_t
connector_fail(connector_error *error, int32_t status, const char *format, ...) {
    va_list arguments;
    size_t length;
    if (error == NULL || error->struct_size < sizeof *error) return status;
    error->code = status;
    error->retryable = status == CONNECTOR_RATE_LIMITED || status == CONNECTOR_UNAVAILABLE ||
                       status == CONNECTOR_TIMED_OUT || status == CONNECTOR_PROTOCOL;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    /* Drops the last character, which may be cut: its bytes after the first one begin with the bits 10. */
    length = strlen(error->message);
    if (length == sizeof error->message - 1) {
        while (length > 0 && ((unsigned char)error->message[length - 1] & 0xC0u) == 0x80u) length--;
        if (length > 0 && (unsigned char)error->message[length - 1] >= 0xC0u) length--;
        error->message[length] = '\0';
    }
    return status;
}

/** An error without an explanation yet, whose domain is a source such as a vendor's name: ASCII, cut to 31 bytes. */
static inline connector_error connector_error_of(const char *domain) {
    connector_error error;
    size_t length = strlen(domain);
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    if (length > sizeof error.domain - 1) length = sizeof error.domain - 1;
    memcpy(error.domain, domain, length);
    return error;
}

/* ---- Reading JSON ---- */

/** How deeply arrays and objects that these functions read may be nested: half as deep as the host takes them. */
#define CONNECTOR_JSON_DEPTH 64

/**
 * One value of a JSON text: its bytes, borrowed. `text` is null if there is no value. Pass to the functions below only
 * a value that connector_json_parse found, or a part of one.
 */
typedef struct connector_json {
    const char *text;
    size_t length;
} connector_json;

/** No value. */
static inline connector_json connector_json_none(void) {
    connector_json none = {NULL, 0};
    return none;
}

/** Whether a value is a number. */
static inline int connector_json_is_number(connector_json value) {
    return value.text != NULL && value.length > 0 &&
           (value.text[0] == '-' || (value.text[0] >= '0' && value.text[0] <= '9'));
}

/**
 * Whether a value is a number that a double can hold, of fewer than 500 characters; `*number` is then the nearest double, in
 * every locale.
 */
static inline int connector_json_double(connector_json value, double *number) {
    char copy[512], point[16];
    size_t index, used = 0, count;
    if (!connector_json_is_number(value)) return 0;
    /* The decimal point of this locale is what stands between the digits of one half. */
    count = (size_t)snprintf(point, sizeof point, "%.1f", 0.5) - 2;
    for (index = 0; index < value.length; index++) {
        if (used + count + 1 >= sizeof copy) return 0;
        if (value.text[index] == '.') {
            memcpy(copy + used, point + 1, count);
            used += count;
        } else {
            copy[used++] = value.text[index];
        }
    }
    copy[used] = '\0';
    *number = strtod(copy, NULL);
    return *number - *number == 0;
}

static inline size_t connector_json_space(const char *text, size_t length, size_t at) {
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
    return at;
}

/* How many bytes the character at `at` has in UTF-8 (RFC 3629, section 4); 0 if it is malformed. */
static inline size_t connector_utf8_count(const char *text, size_t length, size_t at) {
    const unsigned char *bytes = (const unsigned char *)text + at;
    const unsigned char first = bytes[0];
    const size_t count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    size_t index;
    if (count == 0 || length - at < count) return 0;
    for (index = 1; index < count; index++) {
        if ((bytes[index] & 0xC0) != 0x80) return 0;
    }
    /* Requires the shortest form, no surrogates, and nothing beyond U+10FFFF. */
    if (first == 0xE0 && bytes[1] < 0xA0) return 0;
    if (first == 0xED && bytes[1] > 0x9F) return 0;
    if (first == 0xF0 && bytes[1] < 0x90) return 0;
    if (first == 0xF4 && bytes[1] > 0x8F) return 0;
    return count;
}

/* The number that four hexadecimal digits write; -1 if they are not there. */
static inline int32_t connector_json_hex(const char *text, size_t length, size_t at) {
    int32_t value = 0;
    size_t index;
    if (at > length || length - at < 4) return -1;
    for (index = at; index < at + 4; index++) {
        const char digit = text[index], letter = (char)(digit | 0x20);
        if (digit >= '0' && digit <= '9') value = value << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f') value = value << 4 | (letter - 'a' + 10);
        else return -1;
    }
    return value;
}

/* The end of the string that begins at `at`; 0 if there is none. */
static inline size_t connector_json_string_end(const char *text, size_t length, size_t at) {
    if (at >= length || text[at] != '"') return 0;
    for (at++; at < length; at++) {
        const unsigned char byte = (unsigned char)text[at];
        if (byte == '"') return at + 1;
        if (byte < 0x20) return 0;
        if (byte >= 0x80) {
            const size_t count = connector_utf8_count(text, length, at);
            if (count == 0) return 0;
            at += count - 1;
        }
        if (byte != '\\') continue;
        if (++at >= length) return 0;
        if (text[at] == 'u') {
            const int32_t code = connector_json_hex(text, length, at + 1);
            if (code < 0) return 0;
            at += 4;
            if (code >= 0xD800 && code < 0xE000) {
                /* Half of a surrogate pair stands for no character. */
                if (code >= 0xDC00 || length - at < 3 || text[at + 1] != '\\' || text[at + 2] != 'u') return 0;
                if ((connector_json_hex(text, length, at + 3) & ~0x3FF) != 0xDC00) return 0;
                at += 6;
            }
        } else if (text[at] == '\0' || strchr("\"\\/bfnrt", text[at]) == NULL) {
            return 0;
        }
    }
    return 0;
}

static inline size_t connector_json_digits(const char *text, size_t length, size_t at) {
    while (at < length && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

/* The end of the string, number or literal that begins at `at`; 0 if there is none. */
static inline size_t connector_json_scalar_end(const char *text, size_t length, size_t at) {
    static const char *const literals[] = {"true", "false", "null"};
    connector_json number = {text + at, 0};
    size_t index, end;
    int is_large = 0;
    double value;
    if (at < length && text[at] == '"') return connector_json_string_end(text, length, at);
    for (index = 0; index < 3; index++) {
        const size_t count = strlen(literals[index]);
        if (length - at >= count && memcmp(text + at, literals[index], count) == 0) return at + count;
    }
    if (at < length && text[at] == '-') at++;
    end = connector_json_digits(text, length, at);
    if (end == at || (text[at] == '0' && end > at + 1)) return 0;
    if (end < length && text[end] == '.') {
        at = end + 1;
        end = connector_json_digits(text, length, at);
        if (end == at) return 0;
    }
    if (end < length && (text[end] == 'e' || text[end] == 'E')) {
        at = end + 1;
        if (at < length && (text[at] == '+' || text[at] == '-')) at++;
        end = connector_json_digits(text, length, at);
        if (end == at) return 0;
        is_large = 1;
    }
    /* Without an exponent, a double holds whatever has no more digits than this. */
    number.length = (size_t)(text + end - number.text);
    if ((is_large || number.length > 308) && !connector_json_double(number, &value)) return 0;
    return end;
}

/* The end of the value that begins at `at`; 0 if there is none, or it is nested too deeply. In linear time, without
 * recursion. */
static inline size_t connector_json_value_end(const char *text, size_t length, size_t at) {
    /* What encloses the value, one bit for each level: 1 for an object, 0 for an array. */
    uint64_t objects = 0;
    int depth = 0;
    for (;;) {
        /* A value begins here. */
        if (at < length && (text[at] == '{' || text[at] == '[')) {
            const char opening = text[at];
            if (depth == CONNECTOR_JSON_DEPTH) return 0;
            depth++;
            objects = objects << 1 | (opening == '{');
            at = connector_json_space(text, length, at + 1);
            if (at < length && text[at] == (opening == '{' ? '}' : ']')) {
                at++;
                depth--;
                objects >>= 1;
            } else {
                goto next_member;
            }
        } else {
            at = connector_json_scalar_end(text, length, at);
            if (at == 0) return 0;
        }
        /* A value has ended here, and perhaps the values that enclose it. */
        for (;;) {
            if (depth == 0) return at;
            at = connector_json_space(text, length, at);
            if (at >= length) return 0;
            if (text[at] == ',') break;
            if (text[at] != (objects & 1 ? '}' : ']')) return 0;
            at++;
            depth--;
            objects >>= 1;
        }
        at = connector_json_space(text, length, at + 1);
    next_member:
        if (objects & 1) {
            at = connector_json_string_end(text, length, at);
            if (at == 0) return 0;
            at = connector_json_space(text, length, at);
            if (at >= length || text[at] != ':') return 0;
            at = connector_json_space(text, length, at + 1);
        }
    }
}

/* The name of a member, decoded, in the object of a number. */
typedef struct connector_json_name {
    size_t object;
    const char *text;
    size_t length;
} connector_json_name;

static inline int connector_json_name_order(const void *first, const void *second) {
    const connector_json_name *one = (const connector_json_name *)first, *other = (const connector_json_name *)second;
    if (one->object != other->object) return one->object < other->object ? -1 : 1;
    if (one->length != other->length) return one->length < other->length ? -1 : 1;
    return memcmp(one->text, other->text, one->length);
}

static inline size_t connector_json_character(connector_json string, size_t *at, char *bytes);

/* Whether an object in a value has a name twice, or there is no memory to find out. */
static inline int connector_json_repeats_name(connector_json value) {
    size_t objects[CONNECTOR_JSON_DEPTH], depth = 0, object = 0, count = 0, at, position, length;
    connector_json_name *names;
    char *decoded;
    int repeats = 0;
    for (at = 0; at < value.length; at++) {
        if (value.text[at] == '"') at = connector_json_string_end(value.text, value.length, at) - 1;
        else if (value.text[at] == ':') count++;
    }
    if (count < 2) return 0;
    names = (connector_json_name *)malloc(count * sizeof *names + value.length);
    if (names == NULL) return 1;
    decoded = (char *)(names + count);
    count = 0;
    for (at = 0; at < value.length; at++) {
        const char byte = value.text[at];
        if (byte == '{' || byte == '[') objects[depth++] = object++;
        if (byte == '}' || byte == ']') depth--;
        if (byte == '"') {
            connector_json string = {value.text + at, connector_json_string_end(value.text, value.length, at) - at};
            at += string.length - 1;
            position = connector_json_space(value.text, value.length, at + 1);
            if (position >= value.length || value.text[position] != ':') continue;
            names[count].object = objects[depth - 1];
            names[count].text = decoded;
            position = 1;
            while ((length = connector_json_character(string, &position, decoded)) > 0) decoded += length;
            names[count].length = (size_t)(decoded - names[count].text);
            count++;
        }
    }
    qsort(names, count, sizeof *names, connector_json_name_order);
    for (at = 1; at < count && !repeats; at++) repeats = connector_json_name_order(&names[at - 1], &names[at]) == 0;
    free(names);
    return repeats;
}

/**
 * The value of a whole text, checked to its end; none if the host would not accept the text as JSON: RFC 8259, without a number
 * that connector_json_double cannot read, half of a surrogate pair, or a name twice in one object. None, too, if it is nested too
 * deeply, or there is no memory to check it.
 */
static inline connector_json connector_json_parse(const void *text_borrowed, uint64_t text_length) {
    const char *text = (const char *)text_borrowed;
    const size_t length = (size_t)text_length;
    connector_json value;
    size_t start, end;
    if (text == NULL) return connector_json_none();
    start = connector_json_space(text, length, 0);
    end = connector_json_value_end(text, length, start);
    if (end == 0 || connector_json_space(text, length, end) != length) return connector_json_none();
    value.text = text + start;
    value.length = end - start;
    return connector_json_repeats_name(value) ? connector_json_none() : value;
}

/** Whether there is a value that begins with this character: '{', '[', '"', 't', 'f', 'n'. */
static inline int connector_json_begins(connector_json value, char first) {
    return value.text != NULL && value.length > 0 && value.text[0] == first;
}

/**
 * Gives the next part of an array or object, and its key, which is no value in an array. Set `*position` to 0 before
 * the first part. Returns 0 after the last one.
 */
static inline int connector_json_next(connector_json whole, size_t *position, connector_json *key, connector_json *value) {
    const int is_object = connector_json_begins(whole, '{');
    size_t at, end;
    if (!is_object && !connector_json_begins(whole, '[')) return 0;
    at = connector_json_space(whole.text, whole.length, *position == 0 ? 1 : *position);
    if (at < whole.length && whole.text[at] == ',') at = connector_json_space(whole.text, whole.length, at + 1);
    *key = connector_json_none();
    if (is_object) {
        end = connector_json_string_end(whole.text, whole.length, at);
        if (end == 0) return 0;
        key->text = whole.text + at;
        key->length = end - at;
        at = connector_json_space(whole.text, whole.length, end);
        at = connector_json_space(whole.text, whole.length, at + 1);
    }
    end = connector_json_value_end(whole.text, whole.length, at);
    if (end == 0) return 0;
    value->text = whole.text + at;
    value->length = end - at;
    *position = end;
    return 1;
}

/* Decodes the character at `*at` of a string into UTF-8, and moves `*at` past it; returns its length, 0 at the
 * end. */
static inline size_t connector_json_character(connector_json string, size_t *at, char *bytes) {
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    unsigned code;
    size_t index;
    if (*at + 1 >= string.length) return 0;
    bytes[0] = string.text[(*at)++];
    if (bytes[0] != '\\') return 1;
    bytes[0] = string.text[(*at)++];
    if (bytes[0] != 'u') {
        for (index = 0; index + 1 < sizeof escapes; index += 2) {
            if (escapes[index] == bytes[0]) {
                bytes[0] = escapes[index + 1];
                return 1;
            }
        }
        return 1;
    }
    code = (unsigned)connector_json_hex(string.text, string.length, *at);
    *at += 4;
    if (code >= 0xD800 && code < 0xDC00) {
        code = 0x10000 + ((code - 0xD800) << 10) + (unsigned)connector_json_hex(string.text, string.length, *at + 2) - 0xDC00;
        *at += 6;
    }
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        bytes[0] = (char)(0xC0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        bytes[0] = (char)(0xE0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    bytes[0] = (char)(0xF0 | code >> 18);
    bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
    bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
    bytes[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/**
 * Copies the text of a string, without its quotes and escapes, and a NUL into a buffer. Returns CONNECTOR_OK;
 * CONNECTOR_INVALID if the value is not a string, or contains a NUL; CONNECTOR_TOO_LARGE if it does not fit. The buffer
 * is "" after a failure.
 */
static inline int32_t connector_json_string(connector_json value, char *buffer, size_t capacity) {
    size_t at = 1, count, used = 0;
    char bytes[4];
    if (capacity == 0) return CONNECTOR_TOO_LARGE;
    buffer[0] = '\0';
    if (!connector_json_begins(value, '"')) return CONNECTOR_INVALID;
    while ((count = connector_json_character(value, &at, bytes)) > 0) {
        if (bytes[0] == '\0' || count >= capacity - used) {
            buffer[0] = '\0';
            return bytes[0] == '\0' ? CONNECTOR_INVALID : CONNECTOR_TOO_LARGE;
        }
        memcpy(buffer + used, bytes, count);
        used += count;
    }
    buffer[used] = '\0';
    return CONNECTOR_OK;
}

/** Whether a value is a string with exactly this text. */
static inline int connector_json_equals(connector_json value, const char *text, size_t length) {
    size_t at = 1, count, used = 0;
    char bytes[4];
    if (!connector_json_begins(value, '"')) return 0;
    while ((count = connector_json_character(value, &at, bytes)) > 0) {
        if (count > length - used || memcmp(text + used, bytes, count) != 0) return 0;
        used += count;
    }
    return used == length;
}

/** The value of an object's member; none if it is not an object, or has no such member. */
static inline connector_json connector_json_member(connector_json object, const char *name) {
    connector_json key, value;
    size_t position = 0;
    if (!connector_json_begins(object, '{')) return connector_json_none();
    while (connector_json_next(object, &position, &key, &value)) {
        if (connector_json_equals(key, name, strlen(name))) return value;
    }
    return connector_json_none();
}

/** Whether a value is a whole number, written in digits alone, that an int64_t holds; `*number` is then the number. */
static inline int connector_json_int64(connector_json value, int64_t *number) {
    const int is_negative = connector_json_begins(value, '-');
    const uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1u : 0u);
    uint64_t magnitude = 0;
    size_t index;
    if (!connector_json_is_number(value)) return 0;
    for (index = is_negative ? 1 : 0; index < value.length; index++) {
        const unsigned digit = (unsigned)(value.text[index] - '0');
        if (digit > 9 || magnitude > (limit - digit) / 10) return 0;
        magnitude = magnitude * 10 + digit;
    }
    *number = is_negative ? (int64_t)(~magnitude + 1u) : (int64_t)magnitude;
    return 1;
}

/* ---- Writing ---- */

/** The most bytes that a connector_text grows to. */
#define CONNECTOR_TEXT_LIMIT ((size_t)64 << 20)

/**
 * A growing text; begin with zeros, and end with connector_text_free. Out of memory, or beyond its limit, it appends
 * nothing more and sets `is_incomplete`, which connector_complete_text and connector_send report for you.
 */
typedef struct connector_text {
    char *bytes;
    size_t length;
    size_t capacity;
    int is_incomplete;
} connector_text;

/** Frees the bytes; the text is empty again. */
static inline void connector_text_free(connector_text *text) {
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

/** Appends bytes as they are. */
static inline void connector_text_bytes(connector_text *text, const char *bytes, size_t length) {
    if (text->is_incomplete || length == 0) return;
    if (length > CONNECTOR_TEXT_LIMIT - text->length) {
        text->is_incomplete = 1;
        return;
    }
    if (text->length + length > text->capacity) {
        const size_t capacity = (text->length + length) * 2;
        char *larger = (char *)realloc(text->bytes, capacity);
        if (larger == NULL) {
            text->is_incomplete = 1;
            return;
        }
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/** Appends text as it is. */
static inline void connector_text_put(connector_text *text, const char *part) {
    connector_text_bytes(text, part, strlen(part));
}

/** Appends the URL of a server without the slashes at its end, so that a path that begins with one may follow. */
static inline void connector_text_base(connector_text *text, const char *url) {
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/') length--;
    connector_text_bytes(text, url, length);
}

/**
 * Appends text percent-encoded, for a part of a URL's path or query: all but letters, digits and -._~ (RFC 3986). Only "." and
 * ".." keep their meaning as a segment of a path, however they are encoded; connector_send refuses such a URL.
 */
static inline void connector_text_encode(connector_text *text, const char *part, size_t length) {
    static const char digits[] = "0123456789ABCDEF";
    size_t index;
    for (index = 0; index < length; index++) {
        const unsigned char byte = (unsigned char)part[index];
        char encoded[3];
        encoded[0] = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                             byte == '-' || byte == '.' || byte == '_' || byte == '~'
                         ? (char)byte
                         : '%';
        encoded[1] = digits[byte >> 4];
        encoded[2] = digits[byte & 15];
        connector_text_bytes(text, encoded, encoded[0] == '%' ? 3 : 1);
    }
}

/** Appends a name and its value to the query of a URL, percent-encoded; nothing if the value is null. */
static inline void connector_text_query(connector_text *url, const char *name, const char *value, size_t length) {
    if (value == NULL) return;
    connector_text_put(url, url->length > 0 && memchr(url->bytes, '?', url->length) != NULL ? "&" : "?");
    connector_text_encode(url, name, strlen(name));
    connector_text_put(url, "=");
    connector_text_encode(url, value, length);
}

/** Appends a name and a number to the query of a URL. */
static inline void connector_text_query_number(connector_text *url, const char *name, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    connector_text_query(url, name, digits, strlen(digits));
}

/* A comma, unless a value may follow without one. A string ends with a quote, so the last byte is never part of its text. */
static inline void connector_text_separate(connector_text *text) {
    const char last = text->length > 0 ? text->bytes[text->length - 1] : '[';
    if (last != '{' && last != '[' && last != ':') connector_text_bytes(text, ",", 1);
}

/** Begins an array or object of JSON, with '[' or '{'; puts a comma before it if it follows a value. */
static inline void connector_text_open(connector_text *text, char opening) {
    connector_text_separate(text);
    connector_text_bytes(text, &opening, 1);
}

/** Ends an array or object of JSON, with ']' or '}'. */
static inline void connector_text_close(connector_text *text, char closing) { connector_text_bytes(text, &closing, 1); }

/** Appends a string of JSON; puts a comma before it if it follows a value. */
static inline void connector_text_string(connector_text *text, const char *part, size_t length) {
    size_t index, start = 0;
    connector_text_separate(text);
    connector_text_bytes(text, "\"", 1);
    for (index = 0; index < length; index++) {
        const unsigned char byte = (unsigned char)part[index];
        char escape[8];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        connector_text_bytes(text, part + start, index - start);
        start = index + 1;
        snprintf(escape, sizeof escape, byte < 0x20 ? "\\u%04x" : "\\%c", byte);
        connector_text_put(text, escape);
    }
    connector_text_bytes(text, part + start, length - start);
    connector_text_bytes(text, "\"", 1);
}

/** Appends the key of an object's next member; its value follows. */
static inline void connector_text_key(connector_text *text, const char *key) {
    connector_text_string(text, key, strlen(key));
    connector_text_bytes(text, ":", 1);
}

/** Appends JSON that was read, or a number or literal; puts a comma before it if it follows a value. */
static inline void connector_text_json(connector_text *text, connector_json value) {
    connector_text_separate(text);
    if (value.text == NULL) connector_text_put(text, "null");
    else connector_text_bytes(text, value.text, value.length);
}

/** Appends a whole number as JSON; puts a comma before it if it follows a value. */
static inline void connector_text_int64(connector_text *text, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    connector_text_separate(text);
    connector_text_put(text, digits);
}

/** Appends a number as JSON that reads back as the same double, in every locale; null if it is not finite. */
static inline void connector_text_double(connector_text *text, double number) {
    char digits[40];
    size_t index;
    int precision;
    connector_text_separate(text);
    if (!(number - number == 0)) {
        connector_text_put(text, "null");
        return;
    }
    for (precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    /* Whatever no number in C contains is the decimal point of this locale. */
    for (index = 0; digits[index] != '\0'; index++) {
        if (strchr("0123456789+-e", digits[index]) != NULL) {
            connector_text_bytes(text, digits + index, 1);
        } else if (index > 0 && digits[index - 1] >= '0' && digits[index - 1] <= '9') {
            connector_text_bytes(text, ".", 1);
        }
    }
}

/* ---- Completing ---- */

/** Completes a call as failed. */
static inline void connector_complete_failure(const connector_host *host, uint64_t operation, const connector_error *error) {
    host->complete(host->context, operation, error->code == CONNECTOR_OK ? CONNECTOR_FAILED : error->code, NULL, 0, error);
}

/** Completes a call with a result, and frees the text; as failed if the text is incomplete. */
static inline void connector_complete_text(const connector_host *host, uint64_t operation, connector_text *text) {
    if (text->is_incomplete) {
        connector_error error = connector_error_of("");
        connector_fail(&error, CONNECTOR_FAILED, "the result is too large, or there is no memory for it");
        connector_complete_failure(host, operation, &error);
    } else {
        host->complete(host->context, operation, CONNECTOR_OK, (const uint8_t *)text->bytes, text->length, NULL);
    }
    connector_text_free(text);
}

/** Completes `open` or `probe` with one proof: "configured", "reachable" or "authenticated", and a detail for a person. */
static inline void connector_complete_evidence(const connector_host *host, uint64_t operation, const char *kind,
                                               const char *detail) {
    connector_text text = {NULL, 0, 0, 0};
    connector_text_open(&text, '[');
    connector_text_open(&text, '{');
    connector_text_key(&text, "kind");
    connector_text_string(&text, kind, strlen(kind));
    connector_text_key(&text, "detail");
    connector_text_string(&text, detail, strlen(detail));
    connector_text_close(&text, '}');
    connector_text_close(&text, ']');
    connector_complete_text(host, operation, &text);
}

/* ---- Asking a vendor over http/1 ---- */

/** What every gate of an adapter has. Make it the first member of your own struct. */
typedef struct connector_gate {
    const connector_host *host;
    const connector_http *http;
    /** Null if the manifest does not name clock/1. */
    const connector_clock *clock;
    /** The domain of errors. */
    const char *vendor_static;
} connector_gate;

/* The table of http/1; null if the manifest does not name it. */
static inline const connector_http *connector_gate_http(const connector_gate *gate) {
    const connector_host *host = gate->host;
    if (gate->http != NULL) return gate->http;
    return (const connector_http *)host->service(host->context, CONNECTOR_HTTP_SERVICE, sizeof CONNECTOR_HTTP_SERVICE - 1);
}

/* The table of clock/1; null if the manifest does not name it. */
static inline const connector_clock *connector_gate_clock(const connector_gate *gate) {
    const connector_host *host = gate->host;
    if (gate->clock != NULL) return gate->clock;
    return (const connector_clock *)host->service(host->context, CONNECTOR_CLOCK_SERVICE,
                                                  sizeof CONNECTOR_CLOCK_SERVICE - 1);
}

/** The time of day of clock/1, in nanoseconds since 1970; 0 if the manifest does not name it. */
static inline uint64_t connector_gate_now(const connector_gate *gate) {
    const connector_clock *clock = connector_gate_clock(gate);
    return clock == NULL ? 0 : clock->wall_ns(clock->context);
}

/**
 * Fills in a gate in `create`, whose manifest must require http/1 and clock/1. A gate that sends without one of them sets only `host`
 * and `vendor_static`, and leaves the rest null: tables are then looked up when they are needed.
 */
static inline int32_t connector_gate_create(connector_gate *gate, const connector_host *host, const char *vendor_static,
                                            connector_error *error) {
    gate->host = host;
    gate->http = NULL;
    gate->clock = NULL;
    gate->vendor_static = vendor_static;
    gate->http = connector_gate_http(gate);
    gate->clock = connector_gate_clock(gate);
    if (gate->http != NULL && gate->clock != NULL) return CONNECTOR_OK;
    return connector_fail(error, CONNECTOR_UNSUPPORTED, "the manifest must require http/1 and clock/1");
}

/** The value of a response's header, as a span of its bytes; null if it has none. */
static inline const char *connector_header(const connector_http_response *response, const char *name, size_t *length) {
    uint64_t index;
    for (index = 0; index < response->header_count; index++) {
        const connector_http_header *header = &response->headers[index];
        size_t at = 0;
        /* Ignores case, which in ASCII is one bit of a letter. */
        while (at < header->name_length && name[at] != '\0' &&
               (header->name[at] == name[at] || (((unsigned char)name[at] | 0x20u) >= 'a' && ((unsigned char)name[at] | 0x20u) <= 'z' &&
                                                 (header->name[at] ^ name[at]) == 0x20))) {
            at++;
        }
        if (at == header->name_length && name[at] == '\0') {
            *length = (size_t)header->value_length;
            return header->value;
        }
    }
    return NULL;
}

/** Whether the body of a response is a web page, which no vendor's API returns. */
static inline int connector_is_page(const connector_http_response *response) {
    size_t length = 0, index;
    const char *type = connector_header(response, "Content-Type", &length);
    uint64_t at = 0;
    for (; at < response->body_length; at++) {
        const uint8_t byte = response->body[at];
        /* Blanks and a byte order mark. */
        if (byte > ' ' && byte != 0xEF && byte != 0xBB && byte != 0xBF) break;
    }
    if (at == response->body_length || response->body[at] == '{' || response->body[at] == '[') return 0;
    if (response->body[at] == '<') return 1;
    for (index = 0; index + 4 <= length && type[index] != ';'; index++) {
        size_t letter = 0;
        while (letter < 4 && (type[index + letter] | 0x20) == "html"[letter]) letter++;
        if (letter == 4) return 1;
    }
    return 0;
}

/* The moment of a header such as "Sun, 06 Nov 1994 08:49:37 GMT", in seconds since 1970; 0 if there is none. */
static inline uint64_t connector_date(const connector_http_response *response, const char *name) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    size_t length = 0;
    const char *value = connector_header(response, name, &length);
    char copy[30], month[4];
    int day, year, hour, minute, second;
    const char *found;
    long long days;
    if (value == NULL || length != sizeof copy - 1) return 0;
    memcpy(copy, value, length);
    copy[length] = '\0';
    if (sscanf(copy, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &day, month, &year, &hour, &minute, &second) != 6) return 0;
    found = strstr(months, month);
    if (found == NULL || strlen(month) != 3 || (found - months) % 3 != 0 || day < 1 || day > 31 || year < 1970 ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
        return 0;
    }
    /* Days since 1970 in the Gregorian calendar, of years that begin in March. */
    {
        const long long number = (found - months) / 3 + 1, shifted = year - (number <= 2);
        const long long day_of_year = (153 * (number + (number > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year - 719468;
    }
    return (uint64_t)(days * 86400 + hour * 3600 + minute * 60 + second);
}

/**
 * The delay that Retry-After asks for (RFC 9110, section 10.2.3), in nanoseconds, at most a year; 0 if there is none. A
 * date, such as "Sun, 06 Nov 1994 08:49:37 GMT", is measured from the response's own Date, since the machine's clock may be
 * wrong, or else from `now_ns`, the time of day since 1970; 0 if that is 0.
 */
static inline uint64_t connector_retry_after(const connector_http_response *response, uint64_t now_ns) {
    const uint64_t longest = 31536000;
    size_t length = 0, index;
    const char *value = connector_header(response, "Retry-After", &length);
    uint64_t seconds = 0;
    if (value == NULL || length == 0) return 0;
    for (index = 0; index < length && value[index] >= '0' && value[index] <= '9'; index++) {
        if (seconds <= longest) seconds = seconds * 10 + (uint64_t)(value[index] - '0');
    }
    if (index < length) {
        const uint64_t sent = connector_date(response, "Date"), now = sent != 0 ? sent : now_ns / 1000000000u;
        seconds = connector_date(response, "Retry-After");
        if ((sent == 0 && now_ns == 0) || seconds < now) return 0;
        seconds -= now;
    }
    return (seconds > longest ? longest : seconds) * 1000000000u;
}

/** Whether an HTTP status means success. */
static inline int connector_is_success(uint32_t status) { return status >= 200 && status < 300; }

/**
 * The error for a response other than success, in the vocabulary that all vendors share, with its Retry-After. A redirect
 * is the answer of a proxy or a captive portal, and so is a web page under 400, 413 or 422; the call may be tried again.
 * `now_ns` is the time of day since 1970, which only a Retry-After that is a date needs: see connector_gate_now.
 */
static inline connector_error connector_error_of_response(const connector_http_response *response, const char *vendor,
                                                          uint64_t now_ns) {
    connector_error error = connector_error_of(vendor);
    const uint32_t status = response->status;
    const char *foreign = NULL;
    int32_t code = CONNECTOR_PROTOCOL;
    if (status >= 300 && status < 400) foreign = "a redirect";
    else if ((status == 400 || status == 413 || status == 422) && connector_is_page(response)) foreign = "a web page";
    else if (status == 400 || status == 422) code = CONNECTOR_INVALID;
    else if (status == 401 || status == 403) code = CONNECTOR_UNAUTHORIZED;
    else if (status == 404 || status == 410) code = CONNECTOR_NOT_FOUND;
    else if (status == 405 || status == 501) code = CONNECTOR_UNSUPPORTED;
    else if (status == 408 || status == 504) code = CONNECTOR_TIMED_OUT;
    else if (status == 409 || status == 412) code = CONNECTOR_CONFLICT;
    else if (status == 413) code = CONNECTOR_TOO_LARGE;
    else if (status == 429) code = CONNECTOR_RATE_LIMITED;
    else if (status == 402 || status == 407 || status == 421 || status == 425) code = CONNECTOR_UNAVAILABLE;
    else if (status >= 500 && status < 600) code = CONNECTOR_UNAVAILABLE;
    else if (status >= 400 && status < 500) code = CONNECTOR_FAILED;
    if (foreign != NULL) {
        const char *origin = "a proxy or a captive portal may have sent it";
        if (status == 413) {
            code = CONNECTOR_TOO_LARGE;
            origin = "a gateway on the way takes only smaller requests: raise its limit";
        }
        connector_fail(&error, code, "%s (HTTP %u) came instead of %s's answer; %s", foreign, (unsigned)status, vendor, origin);
        error.retryable = 1;
    } else {
        connector_fail(&error, code, "%s answered HTTP %u", vendor, (unsigned)status);
        error.retry_after_ns = connector_retry_after(response, now_ns);
        /* Temporary: RFC 9110, section 15.5.14. */
        if (status == 413 && error.retry_after_ns > 0) error.retryable = 1;
    }
    if (status == 402 || status == 407 || status == 505) error.retryable = 0;
    error.detail = (int32_t)status;
    return error;
}

/** The error for a response to a gate. The manifest need not name clock/1: only for a date is the time asked for. */
static inline connector_error connector_gate_error(const connector_gate *gate, const connector_http_response *response) {
    /* A date gives no delay while the time of day is unknown. */
    const int has_date = connector_retry_after(response, 1) != connector_retry_after(response, 0);
    return connector_error_of_response(response, gate->vendor_static, has_date ? connector_gate_now(gate) : 0);
}

/** One request of a call, from `connector_send` to its answer; freed after `answered` has returned. */
typedef struct connector_exchange {
    const connector_gate *gate;
    uint64_t operation;
    /** Receives a response of HTTP 2xx, and completes the call: `connector_exchange_fail`, or a function above. */
    void (*answered)(const struct connector_exchange *exchange, const connector_http_response *response);
    /** Whatever `answered` needs to know, such as what was asked for. */
    char note[64];
} connector_exchange;

/** Completes the call of an exchange as failed, for a reason of the adapter's own. */
#define connector_exchange_fail(exchange, ...)                                                                         \
    do {                                                                                                               \
        connector_error connector_reason = connector_error_of((exchange)->gate->vendor_static);                        \
        connector_fail(&connector_reason, __VA_ARGS__);                                                                \
        connector_complete_failure((exchange)->gate->host, (exchange)->operation, &connector_reason);                  \
    } while (0)

/* Runs on a thread of the host, once for each request. */
static inline void connector_exchange_done(void *user, int32_t status, const connector_http_response *response,
                                           const connector_error *reason) {
    connector_exchange *exchange = (connector_exchange *)user;
    const connector_gate *gate = exchange->gate;
    if (status != CONNECTOR_OK) {
        /* No answer: refused, timed out, forbidden. The host said why. */
        gate->host->complete(gate->host->context, exchange->operation, status, NULL, 0, reason);
    } else if (connector_is_success(response->status)) {
        exchange->answered(exchange, response);
    } else {
        const connector_error error = connector_gate_error(gate, response);
        connector_complete_failure(gate->host, exchange->operation, &error);
    }
    free(exchange);
}

/* Whether a segment of a URL's path is "." or "..". */
static inline int connector_has_dot_segment(const connector_text *url) {
    size_t start = 0, at;
    for (at = 0; at <= url->length; at++) {
        const char byte = at < url->length ? url->bytes[at] : '?';
        if (byte != '/' && byte != '?' && byte != '#') continue;
        if ((at - start == 1 || at - start == 2) && memcmp(url->bytes + start, "..", at - start) == 0) return 1;
        if (byte != '/') return 0;
        start = at + 1;
    }
    return 0;
}

/* Sends a request, whose end `done(user, …)` receives after CONNECTOR_OK alone. */
static inline int32_t connector_gate_send(const connector_gate *gate, connector_http_request *request, const connector_text *url,
                                          uint64_t deadline_ns, connector_http_done done, void *user, connector_error *error) {
    const connector_http *http = connector_gate_http(gate);
    uint64_t identifier;
    if (http == NULL) return connector_fail(error, CONNECTOR_UNSUPPORTED, "the manifest must require http/1");
    if (url->is_incomplete) return connector_fail(error, CONNECTOR_FAILED, "out of memory");
    if (connector_has_dot_segment(url)) {
        return connector_fail(error, CONNECTOR_INVALID, "a segment of the path is \".\" or \"..\"");
    }
    request->struct_size = sizeof *request;
    request->url = url->bytes;
    request->url_length = url->length;
    request->deadline_ns = deadline_ns;
    return http->request(http->context, request, done, user, &identifier, error);
}

/**
 * Sends a request for a call: `request` with its method, headers and body, to the URL in `url`, which is freed. Every answer but
 * HTTP 2xx completes the call as failed. Return its status from the operation. The manifest must require http/1, and
 * name clock/1 for a Retry-After that is a date. A URL with a segment "." or ".." is INVALID: servers resolve these.
 *
 * When the host gives the call up, it cancels the request: the adapter needs no `cancel` for that. A host older than
 * connector_http_request.during lets the request go on until its answer or the call's deadline, and ignores the completion.
 */
static inline int32_t connector_send(const connector_gate *gate, const connector_call *call, connector_http_request *request,
                                     connector_text *url, connector_exchange exchange, connector_error *error) {
    connector_exchange *copy = (connector_exchange *)malloc(sizeof *copy);
    int32_t status;
    if (copy == NULL) {
        connector_text_free(url);
        return connector_fail(error, CONNECTOR_FAILED, "out of memory");
    }
    *copy = exchange;
    copy->gate = gate;
    copy->operation = call->operation;
    request->during = call->operation;
    status = connector_gate_send(gate, request, url, call->deadline_ns, connector_exchange_done, copy, error);
    /* connector_exchange_done never runs for a request that was refused. */
    if (status != CONNECTOR_OK) free(copy);
    connector_text_free(url);
    return status;
}

/** Sends a GET for a call; see `connector_send`. */
static inline int32_t connector_get(const connector_gate *gate, const connector_call *call, connector_text *url,
                                    connector_exchange exchange, connector_error *error) {
    connector_http_request request;
    memset(&request, 0, sizeof request);
    request.method = "GET";
    request.method_length = 3;
    return connector_send(gate, call, &request, url, exchange, error);
}

#endif

"""##,
"connector/author.hpp": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * author.hpp: a plugin in C++17 as a class. It is not part of the ABI, and needs nothing but the standard library.
 *
 *   class Rates {
 *   public:
 *       static connector::Result<std::unique_ptr<Rates>> create(connector::Host host, connector::Json config);
 *       void open(connector::Call call);   // completes with evidence; also probe, close and cancel(uint64_t), if there are any
 *   };
 *   CONNECTOR_ENTRY(rates_plugin, Rates)
 *
 * An operation is an exported function whose prototype follows from its signature (operation.h); its body is
 * connector::perform, or connector::answer if it is synchronous. No exception leaves an operation: it becomes an
 * error. A class is used from several threads at once unless the manifest says otherwise.
 */
#ifndef CONNECTOR_AUTHOR_HPP
#define CONNECTOR_AUTHOR_HPP

#include "author.h"
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace connector {

/** Why a call failed. */
struct Error {
    /** One of CONNECTOR_STATUSES, not CONNECTOR_OK. */
    int32_t status = CONNECTOR_FAILED;
    /** One sentence for a person, never a secret; cut to 967 bytes. */
    std::string message;
    /** Whether the same call may succeed later; by default what the status usually means. */
    std::optional<bool> retryable = std::nullopt;
    std::chrono::nanoseconds retry_after{0};
    /** The source of the failure: by default the vendor's name. */
    std::string domain = {};
    /** The vendor's own number, such as the HTTP status. */
    int32_t detail = 0;

    /** Fills in an error of the ABI, if there is one; returns the status. */
    int32_t write(connector_error *error, const char *vendor = "") const noexcept {
        connector_error copy = connector_error_of(domain.empty() ? vendor : domain.c_str());
        connector_fail(&copy, status == CONNECTOR_OK ? CONNECTOR_FAILED : status, "%s", message.c_str());
        if (retryable) copy.retryable = *retryable;
        copy.retry_after_ns = retry_after.count() > 0 ? static_cast<uint64_t>(retry_after.count()) : 0;
        copy.detail = detail;
        if (error != nullptr && error->struct_size >= sizeof copy) {
            copy.struct_size = error->struct_size;
            *error = copy;
        }
        return copy.code;
    }
};

/** A value, or the reason why there is none: what std::expected is in C++23. */
template <class Value> class [[nodiscard]] Result {
public:
    Result(Value value) : content(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    /** Only if there is a value. */
    Value &operator*() noexcept { return *std::get_if<0>(&content); }
    const Value &operator*() const noexcept { return *std::get_if<0>(&content); }
    Value *operator->() noexcept { return std::get_if<0>(&content); }
    const Value *operator->() const noexcept { return std::get_if<0>(&content); }
    /** Only if there is no value. */
    const Error &error() const noexcept { return *std::get_if<1>(&content); }

private:
    std::variant<Value, Error> content;
};

/** One value of a JSON text, borrowed: valid as long as the text. Its functions throw only for want of memory. */
class Json {
public:
    Json() noexcept : value(connector_json_none()) {}
    explicit Json(connector_json value) noexcept : value(value) {}

    /** The value of a whole text; nothing if connector_json_parse finds none. */
    static Json parse(std::string_view text) noexcept { return Json(connector_json_parse(text.data(), text.size())); }

    /** Whether there is a value. */
    explicit operator bool() const noexcept { return value.text != nullptr; }
    bool is_object() const noexcept { return connector_json_begins(value, '{'); }
    bool is_array() const noexcept { return connector_json_begins(value, '['); }
    bool is_string() const noexcept { return connector_json_begins(value, '"'); }
    bool is_number() const noexcept { return connector_json_is_number(value); }
    bool is_null() const noexcept { return connector_json_begins(value, 'n'); }

    /** The member of an object; nothing if there is none. */
    Json operator[](std::string_view name) const noexcept {
        connector_json key, part;
        std::size_t position = 0;
        if (!is_object()) return Json();
        while (connector_json_next(value, &position, &key, &part)) {
            if (connector_json_equals(key, name.data(), name.size())) return Json(part);
        }
        return Json();
    }

    /** Calls `body(key, value)` for each part of an array or object; the key is nothing in an array. */
    template <class Body> void for_each(Body &&body) const {
        connector_json key, part;
        std::size_t position = 0;
        while (connector_json_next(value, &position, &key, &part)) body(Json(key), Json(part));
    }

    std::optional<std::string> string() const {
        if (!is_string()) return std::nullopt;
        std::string text;
        std::size_t at = 1, count;
        char bytes[4];
        while ((count = connector_json_character(value, &at, bytes)) > 0) text.append(bytes, count);
        return text;
    }
    std::optional<double> number() const noexcept {
        double number;
        return connector_json_double(value, &number) ? std::optional<double>(number) : std::nullopt;
    }
    std::optional<int64_t> integer() const noexcept {
        int64_t number;
        return connector_json_int64(value, &number) ? std::optional<int64_t>(number) : std::nullopt;
    }
    std::optional<bool> boolean() const noexcept {
        if (connector_json_begins(value, 't')) return true;
        return connector_json_begins(value, 'f') ? std::optional<bool>(false) : std::nullopt;
    }
    /** The JSON text. */
    std::string_view text() const noexcept { return {value.text == nullptr ? "" : value.text, value.length}; }
    connector_json raw() const noexcept { return value; }

private:
    connector_json value;
};

/** A growing text, for JSON and URLs. Out of memory it is incomplete, which every function that takes it reports. */
class Text {
public:
    Text() noexcept : content{nullptr, 0, 0, 0} {}
    explicit Text(std::string_view start) noexcept : Text() { put(start); }
    Text(Text &&other) noexcept : content(std::exchange(other.content, connector_text{nullptr, 0, 0, 0})) {}
    Text &operator=(Text &&other) noexcept {
        std::swap(content, other.content);
        return *this;
    }
    ~Text() { connector_text_free(&content); }

    /** Appends text as it is. */
    Text &put(std::string_view part) noexcept { return connector_text_bytes(&content, part.data(), part.size()), *this; }
    /** Appends the URL of a server without the slashes at its end, so that a path that begins with one may follow. */
    Text &base(std::string_view url) noexcept {
        while (!url.empty() && url.back() == '/') url.remove_suffix(1);
        return put(url);
    }
    /** Appends text percent-encoded, for a part of a URL; see connector_text_encode. */
    Text &encode(std::string_view part) noexcept {
        return connector_text_encode(&content, part.data(), part.size()), *this;
    }
    /** Appends a name and its value, percent-encoded, to the query of a URL; nothing if the value is null. */
    Text &query(const char *name, const char *value, uint64_t length) noexcept {
        return connector_text_query(&content, name, value, static_cast<std::size_t>(length)), *this;
    }
    Text &query(const char *name, uint64_t number) noexcept {
        return connector_text_query_number(&content, name, number), *this;
    }
    /** Appends JSON, with a comma before it if it follows a value. */
    Text &open(char bracket) noexcept { return connector_text_open(&content, bracket), *this; }
    Text &close(char bracket) noexcept { return connector_text_close(&content, bracket), *this; }
    Text &key(std::string_view name) noexcept { return string(name).put(":"); }
    Text &string(std::string_view part) noexcept {
        return connector_text_string(&content, part.data(), part.size()), *this;
    }
    Text &number(double number) noexcept { return connector_text_double(&content, number), *this; }
    Text &integer(int64_t number) noexcept { return connector_text_int64(&content, number), *this; }
    Text &json(Json value) noexcept { return connector_text_json(&content, value.raw()), *this; }

    std::string_view view() const noexcept { return {content.bytes == nullptr ? "" : content.bytes, content.length}; }
    connector_text *raw() noexcept { return &content; }
    const connector_text *raw() const noexcept { return &content; }

private:
    connector_text content;
};

/** A response to a request, borrowed: valid until the function that received it returns. */
class Response {
public:
    explicit Response(const connector_http_response *response) noexcept : response(response) {}
    uint32_t status() const noexcept { return response->status; }
    std::string_view body() const noexcept {
        if (response->body == nullptr) return {};
        return {reinterpret_cast<const char *>(response->body), static_cast<std::size_t>(response->body_length)};
    }
    Json json() const noexcept { return Json::parse(body()); }
    /** Whether the body is a web page, which no vendor's API returns. */
    bool is_page() const noexcept { return connector_is_page(response); }
    std::optional<std::string_view> header(const char *name) const noexcept {
        std::size_t length = 0;
        const char *value = connector_header(response, name, &length);
        return value == nullptr ? std::nullopt : std::optional<std::string_view>({value, length});
    }

private:
    const connector_http_response *response;
};

#if defined(__cpp_exceptions)
/** The first call that an exception drops on its way out of a body, which then completes with what the exception says. */
class __attribute__((visibility("hidden"))) Thrown {
public:
    Thrown() noexcept : outer(std::exchange(current(), this)), exceptions(std::uncaught_exceptions()) {}
    Thrown(const Thrown &) = delete;
    Thrown &operator=(const Thrown &) = delete;
    /** Completes a call whose exception the body has caught. */
    ~Thrown() {
        current() = outer;
        complete("the plugin dropped the call");
    }

    /** Takes a call that is being dropped over, if an exception drops it and there is none yet. */
    static bool take(const connector_gate *gate, uint64_t operation) noexcept {
        Thrown *thrown = current();
        if (thrown == nullptr || thrown->gate != nullptr) return false;
        if (std::uncaught_exceptions() <= thrown->exceptions) return false;
        thrown->gate = gate;
        thrown->operation = operation;
        return true;
    }
    /** Completes the call, if there is one. */
    void complete(const char *reason) noexcept {
        if (gate == nullptr) return;
        connector_error error = connector_error_of(gate->vendor_static);
        connector_fail(&error, CONNECTOR_FAILED, "%s", reason);
        connector_complete_failure(std::exchange(gate, nullptr)->host, operation, &error);
    }

private:
    /** The innermost body that this thread runs. */
    static Thrown *&current() noexcept {
        static thread_local Thrown *innermost = nullptr;
        return innermost;
    }

    Thrown *outer;
    int exceptions;
    const connector_gate *gate = nullptr;
    uint64_t operation = 0;
};
#endif

/**
 * A pending call. Complete it once; one that is dropped fails, with what the exception says that dropped it, and completing
 * it again has no effect.
 */
class [[nodiscard]] Call {
public:
    Call(const connector_gate *gate, const connector_call *call) noexcept
        : gate(gate), operation(call->operation), deadline_ns(call->deadline_ns) {}
    Call(Call &&other) noexcept
        : gate(std::exchange(other.gate, nullptr)), operation(other.operation), deadline_ns(other.deadline_ns) {}
    Call &operator=(Call &&) = delete;
    ~Call() {
        if (gate == nullptr) return;
#if defined(__cpp_exceptions)
        if (Thrown::take(gate, operation)) return;
#endif
        fail({CONNECTOR_FAILED, "the plugin dropped the call"});
    }

    /** Completes without a result. */
    void complete() noexcept { succeed(nullptr, 0); }
    /** Completes with a string or JSON, or with bytes. */
    void complete(std::string_view result) noexcept {
        /* An empty result is still a result, so it needs an address. */
        succeed(result.data() == nullptr ? "" : result.data(), result.size());
    }
    /** Completes with a text, and frees its bytes; it may be written in place, as in `complete(Text().open('[').close(']'))`. */
    void complete(Text &result) noexcept {
        if (gate == nullptr) return;
        connector_complete_text(std::exchange(gate, nullptr)->host, operation, result.raw());
    }
    void complete(Text &&result) noexcept { complete(result); }
    /** Completes `open` or `probe` with one proof. */
    void prove(const char *kind, const std::string &detail) noexcept {
        if (gate == nullptr) return;
        connector_complete_evidence(std::exchange(gate, nullptr)->host, operation, kind, detail.c_str());
    }
    /** Completes as failed. */
    void fail(const Error &reason) noexcept {
        if (gate == nullptr) return;
        connector_error error = connector_error_of("");
        reason.write(&error, gate->vendor_static);
        fail(error);
    }
    void fail(const connector_error &error) noexcept {
        if (gate == nullptr) return;
        connector_complete_failure(std::exchange(gate, nullptr)->host, operation, &error);
    }

    uint64_t identifier() const noexcept { return operation; }
    uint64_t deadline() const noexcept { return deadline_ns; }

private:
    void succeed(const char *bytes, std::size_t length) noexcept {
        if (gate == nullptr) return;
        const connector_host *host = std::exchange(gate, nullptr)->host;
        host->complete(host->context, operation, CONNECTOR_OK, reinterpret_cast<const uint8_t *>(bytes), length, nullptr);
    }

    const connector_gate *gate;
    uint64_t operation;
    uint64_t deadline_ns;
};

/** Runs a body, and turns what it throws into an error. */
template <class Body, class Failed> void guarded(Body &&body, Failed &&failed) noexcept {
#if defined(__cpp_exceptions)
    try {
        body();
    } catch (const std::exception &exception) {
        failed(exception.what());
    } catch (...) {
        failed("an unknown exception");
    }
#else
    (void)failed;
    body();
#endif
}

/** Runs a body that a call was handed to, and completes the call with what it throws. */
template <class Body> void guarded_call(Body &&body) noexcept {
#if defined(__cpp_exceptions)
    Thrown thrown;
    guarded(body, [&](const char *reason) { thrown.complete(reason); });
#else
    body();
#endif
}

/** The host as one instance sees it. */
class Host {
public:
    explicit Host(const connector_gate *gate) noexcept : gate(gate) {}

    /** Sends a GET; see `send`. */
    template <class Answered> void get(Call call, const Text &url, Answered answered) const {
        connector_http_request request = {};
        request.method = "GET";
        request.method_length = 3;
        send(std::move(call), request, url, std::move(answered));
    }

    /**
     * Sends a request for a call, and hands the call and the response to `answered(Call, Response)`, on a thread of the
     * host, if the response is HTTP 2xx. Any other end completes the call as failed. `request` needs no URL, size or
     * deadline. The manifest must require http/1, and name clock/1 for a Retry-After that is a date. When the host gives the
     * call up, it cancels the request: see connector_send.
     */
    template <class Answered>
    void send(Call call, connector_http_request request, const Text &url, Answered answered) const {
        struct Exchange {
            const connector_gate *gate;
            Call call;
            Answered answered;
        };
        const uint64_t deadline = call.deadline();
        request.during = call.identifier();
        auto exchange = std::make_unique<Exchange>(Exchange{gate, std::move(call), std::move(answered)});
        connector_error error = connector_error_of("");
        const connector_http_done done = [](void *user, int32_t status, const connector_http_response *response,
                                            const connector_error *reason) {
            const std::unique_ptr<Exchange> exchange(static_cast<Exchange *>(user));
            if (status != CONNECTOR_OK) {
                connector_error error = connector_error_of("");
                connector_fail(&error, status, "the host answered with status %d", static_cast<int>(status));
                exchange->call.fail(reason == nullptr ? error : *reason);
            } else if (!connector_is_success(response->status)) {
                exchange->call.fail(connector_gate_error(exchange->gate, response));
            } else {
                guarded_call([&] { exchange->answered(std::move(exchange->call), Response(response)); });
            }
        };
        const int32_t status = connector_gate_send(gate, &request, url.raw(), deadline, done, exchange.get(), &error);
        if (status == CONNECTOR_OK) return (void)exchange.release();
        /* `done` never runs for a request that was refused. */
        if (error.code == CONNECTOR_OK) connector_fail(&error, status, "the host refused the request");
        exchange->call.fail(error);
    }

    const connector_gate *raw() const noexcept { return gate; }

private:
    const connector_gate *gate;
};

/** What the host holds: the object, and what every gate has. */
template <class Gate> struct Instance {
    connector_gate gate = {};
    std::unique_ptr<Gate> value;
};

/** Performs an asynchronous operation: `body(Gate &, Call)`. */
template <class Gate, class Body>
int32_t perform(void *instance, const connector_call *call, connector_error *error, Body &&body) noexcept {
    (void)error;
    auto &self = *static_cast<Instance<Gate> *>(instance);
    guarded_call([&] { body(*self.value, Call(&self.gate, call)); });
    return CONNECTOR_OK;
}

/** Answers a synchronous operation: `body(Gate &)` returns a Result, whose value goes to `write(value)`. */
template <class Gate, class Body, class Write>
int32_t answer(void *instance, connector_error *error, Body &&body, Write &&write) noexcept {
    auto &self = *static_cast<Instance<Gate> *>(instance);
    int32_t status = CONNECTOR_FAILED;
    guarded(
        [&] {
            auto result = body(*self.value);
            if (!result) return (void)(status = result.error().write(error, self.gate.vendor_static));
            write(*result);
            status = CONNECTOR_OK;
        },
        [&](const char *reason) { connector_fail(error, status, "%s", reason); });
    return status;
}

template <class Gate, class = void> struct HasProbe : std::false_type {};
template <class Gate> struct HasProbe<Gate, std::void_t<decltype(&Gate::probe)>> : std::true_type {};
template <class Gate, class = void> struct HasClose : std::false_type {};
template <class Gate> struct HasClose<Gate, std::void_t<decltype(&Gate::close)>> : std::true_type {};
template <class Gate, class = void> struct HasCancel : std::false_type {};
template <class Gate> struct HasCancel<Gate, std::void_t<decltype(&Gate::cancel)>> : std::true_type {};

template <class Gate>
int32_t create(const char *vendor_static, const connector_host *host, const char *config, uint64_t length, void **instance,
               connector_error *error) noexcept {
    int32_t status = CONNECTOR_FAILED;
    guarded(
        [&] {
            auto self = std::make_unique<Instance<Gate>>();
            self->gate = {host, nullptr, nullptr, vendor_static};
            auto made = Gate::create(Host(&self->gate), Json::parse({config, static_cast<std::size_t>(length)}));
            if (!made) return (void)(status = made.error().write(error, vendor_static));
            self->value = std::move(*made);
            *instance = self.release();
            status = CONNECTOR_OK;
        },
        [&](const char *reason) { status = connector_fail(error, CONNECTOR_FAILED, "%s", reason); });
    return status;
}

/**
 * Defines the entry function of a plugin whose gates are of a class. The vendor's name, which the messages and the domain of errors
 * have, is the name of the class.
 */
#define CONNECTOR_ENTRY(symbol, Gate) CONNECTOR_VENDOR_ENTRY(symbol, Gate, #Gate)

/** Defines the entry function like CONNECTOR_ENTRY; `vendor` is a literal. */
#define CONNECTOR_VENDOR_ENTRY(symbol, Gate, vendor)                                                                   \
    CONNECTOR_EXPORT const connector_plugin *symbol(void) {                                                            \
        static const connector_plugin plugin = ::connector::table<Gate>(                                               \
            [](const connector_host *host, const char *config, uint64_t length, void **instance,                       \
               connector_error *error) -> int32_t {                                                                    \
                return ::connector::create<Gate>(vendor, host, config, length, instance, error);                       \
            });                                                                                                        \
        return &plugin;                                                                                                \
    }

template <class Gate> connector_plugin table(decltype(connector_plugin::create) create) noexcept {
    connector_plugin plugin = {};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = CONNECTOR_ABI_VERSION;
    plugin.create = create;
    plugin.open = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
        return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.open(std::move(call)); });
    };
    if constexpr (HasProbe<Gate>::value) {
        plugin.probe = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
            return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.probe(std::move(call)); });
        };
    }
    if constexpr (HasClose<Gate>::value) {
        plugin.close = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
            return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.close(std::move(call)); });
        };
    }
    if constexpr (HasCancel<Gate>::value) {
        plugin.cancel = [](void *instance, uint64_t operation) {
            guarded([&] { static_cast<Instance<Gate> *>(instance)->value->cancel(operation); }, [](const char *) {});
        };
    }
    plugin.destroy = [](void *instance) { delete static_cast<Instance<Gate> *>(instance); };
    return plugin;
}

} // namespace connector

#endif

"""##,
"connector/base.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * base.h: the version, linkage and nullability that every other header of the ABI needs.
 *
 * Rules of the whole ABI:
 *
 *  - Only fixed-width integers, floats and pointers cross the ABI, and structs only behind a pointer.
 *  - Every struct starts with `struct_size`, set by the side that allocates it, and grows only at its end. The other side
 *    uses a field only if `struct_size` covers it: CONNECTOR_HAS_FIELD. Only connector_http_header has none, since it
 *    stands in arrays, and never grows.
 *  - Every function returns an int32_t status of error.h, unless it cannot fail. Results go out through pointers.
 *  - Text is UTF-8 with a length in bytes, never NUL-terminated, and may contain NUL.
 *  - `_borrowed` memory is valid until the call returns, `_static` until the process ends, `_owned` until its new
 *    owner calls the release function that came with it. Neither side frees the other's memory directly.
 *  - Times are unsigned nanoseconds.
 *
 * Thread classes, stated at every function:
 *
 *  [any]       from any thread, even from several at once
 *  [lifecycle] one call at a time for each instance, on any thread of the host
 *  [gate]      [any] if the manifest says `"thread": "any"`; one call at a time for each instance if it says "serial"
 */
#ifndef CONNECTOR_BASE_H
#define CONNECTOR_BASE_H

#include <stddef.h>
#include <stdint.h>

/** The version of the ABI that these headers describe. */
#define CONNECTOR_ABI_VERSION 1u

#ifdef __cplusplus
#define CONNECTOR_BEGIN_DECLS extern "C" {
#define CONNECTOR_END_DECLS }
#else
#define CONNECTOR_BEGIN_DECLS
#define CONNECTOR_END_DECLS
#endif

/** Makes a function of a plugin visible to the host, even under -fvisibility=hidden. */
#ifdef __cplusplus
#define CONNECTOR_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define CONNECTOR_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define CONNECTOR_NONNULL _Nonnull
#define CONNECTOR_NULLABLE _Nullable
#else
#define CONNECTOR_NONNULL
#define CONNECTOR_NULLABLE
#endif

/** Whether the side that filled in the struct at `pointer` knew of `field`. */
#define CONNECTOR_HAS_FIELD(type, field, pointer)                                                                      \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#ifdef __clang__
#pragma clang diagnostic pop
#endif

#endif

"""##,
"connector/connector.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * connector.h: the whole ABI, for plugins that need all of it. Start reading at base.h and plugin.h.
 */
#ifndef CONNECTOR_H
#define CONNECTOR_H

#include "base.h"
#include "error.h"
#include "host.h"
#include "manifest.h"
#include "operation.h"
#include "plugin.h"
#include "services/clock.h"
#include "services/events.h"
#include "services/gates.h"
#include "services/http.h"
#include "services/log.h"
#include "services/storage.h"

#endif

"""##,
"connector/error.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * error.h: the statuses that functions return, and the object that explains a failure.
 */
#ifndef CONNECTOR_ERROR_H
#define CONNECTOR_ERROR_H

#include "base.h"

CONNECTOR_BEGIN_DECLS

/**
 * Every status, once: number, name, meaning. Numbers are never reused; a reader treats an unknown number as
 * CONNECTOR_FAILED.
 *
 * 0 is success, 1 to 99 are failures, 100 to 199 are the host's answers to a misused service or completion.
 */
#define CONNECTOR_STATUSES(X)                                                                                          \
    X(0, OK, "success")                                                                                                \
    X(1, FAILED, "failed, for a reason that no other status names")                                                   \
    X(2, INVALID, "the caller's arguments or configuration are wrong; the same call will fail again")                  \
    X(3, UNSUPPORTED, "the vendor or the plugin cannot do this")                                                       \
    X(4, UNAUTHORIZED, "the vendor refused the credentials")                                                           \
    X(5, NOT_FOUND, "the requested object does not exist")                                                             \
    X(6, CONFLICT, "the object has changed since it was read, or exists already")                                      \
    X(7, RATE_LIMITED, "too many calls; retry_after_ns says when to try again")                                        \
    X(8, UNAVAILABLE, "the vendor could not be reached or says that it is temporarily unavailable")                    \
    X(9, TIMED_OUT, "the deadline passed")                                                                             \
    X(10, CANCELLED, "the caller cancelled the call")                                                                  \
    X(11, DENIED, "the host does not permit this: egress, a service that the manifest does not name")                  \
    X(12, TOO_LARGE, "more bytes than a limit allows")                                                                 \
    X(13, PROTOCOL, "the vendor's answer was not what its protocol says")                                              \
    X(14, NOT_OPEN, "the gate is not open")                                                                            \
    X(100, UNKNOWN_OPERATION, "no such operation is pending: late, already completed, or never issued")                \
    X(101, FOREIGN_OPERATION, "the operation belongs to another gate")                                                 \
    X(102, MISUSE, "an argument breaks the rules of the ABI")

/** The statuses as integer constants; functions return them as int32_t, which is their type in Swift, too. */
#ifdef __swift__
#define CONNECTOR_STATUS_CONSTANT(number, name, meaning) static const int32_t CONNECTOR_##name = number;
CONNECTOR_STATUSES(CONNECTOR_STATUS_CONSTANT)
#else
#define CONNECTOR_STATUS_CONSTANT(number, name, meaning) CONNECTOR_##name = number,
enum { CONNECTOR_STATUSES(CONNECTOR_STATUS_CONSTANT) CONNECTOR_STATUS_END = -1 };
#endif

#undef CONNECTOR_STATUS_CONSTANT

#define CONNECTOR_ERROR_DOMAIN_SIZE 32
#define CONNECTOR_ERROR_MESSAGE_SIZE 968

/**
 * The reason a call failed. The caller owns the object, sets `struct_size`, and passes it in; the callee fills in the
 * rest only when it returns a status other than CONNECTOR_OK. An object passed to `complete` belongs to the plugin: the
 * host reads no byte beyond its `struct_size`, so an object whose size is 0 explains nothing.
 *
 * 1024 bytes. `domain` and `message` are UTF-8 and end at the first NUL or at the end of the array.
 */
typedef struct connector_error {
    uint32_t struct_size;
    /** One of CONNECTOR_STATUSES; equal to the returned status. */
    int32_t code;
    /** 1 if the same call may succeed later, otherwise 0. */
    uint32_t retryable;
    /** The vendor's or system's number (HTTP status, errno); 0 if there is none. */
    int32_t detail;
    /** The wait before the next attempt, in nanoseconds; 0 if unknown. */
    uint64_t retry_after_ns;
    /**
     * The source of the failure: "http", "errno", a vendor's name; "host" if the host refused what the plugin asked of a service. The
     * status of an error from "host" blames no event: a plugin that passes it on leaves it as it is.
     */
    char domain[CONNECTOR_ERROR_DOMAIN_SIZE];
    /** One sentence for a person: what failed and what to do about it. Never a secret. */
    char message[CONNECTOR_ERROR_MESSAGE_SIZE];
} connector_error;

CONNECTOR_END_DECLS

#endif

"""##,
"connector/host.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * host.h: the functions that the host offers to one instance of a plugin.
 */
#ifndef CONNECTOR_HOST_H
#define CONNECTOR_HOST_H

#include "operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/**
 * The host as one instance sees it. Given to `create`, valid until `destroy` of that instance returns. A plugin may
 * keep the pointer; it never writes through it.
 */
typedef struct connector_host {
    uint32_t struct_size;
    /** The highest version of the ABI that the host speaks. */
    uint32_t abi_version;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /**
     * Returns the function table of a host service, such as "http/1": see services/. Null if the host does not have it,
     * or if the manifest names it neither as required nor as optional, which the host logs. Valid as long as this
     * struct. [any]
     */
    const void *CONNECTOR_NULLABLE (*CONNECTOR_NONNULL service)(void *CONNECTOR_NONNULL context,
                                                                const char *CONNECTOR_NONNULL id_borrowed,
                                                                uint64_t id_length);

    /**
     * Completes an asynchronous call, exactly once. `status` is CONNECTOR_OK, with the result in `result_borrowed`
     * (null if the operation has none), or a failure, with `error_borrowed` to explain it (null without an
     * explanation). The host copies both before it returns.
     *
     * Returns CONNECTOR_OK; CONNECTOR_UNKNOWN_OPERATION if the call is no longer pending (completed, cancelled, past its
     * deadline) or never was; CONNECTOR_FOREIGN_OPERATION if another gate owns the call; CONNECTOR_MISUSE if a pointer
     * that must not be null is null. A call whose result is null with a nonzero length fails. None of these does harm.
     * The host logs a second completion, an unknown operation and a foreign operation as misbehaviour. It does not log
     * completions of a call that was cancelled or timed out, however many arrive before `destroy` returns.
     *
     * If the result is the only key to something that the call has begun, such as the id of an upload, and this does not
     * return CONNECTOR_OK, end it: nobody else can. [any]
     */
    int32_t (*CONNECTOR_NONNULL complete)(void *CONNECTOR_NONNULL context, uint64_t operation, int32_t status,
                                          const uint8_t *CONNECTOR_NULLABLE result_borrowed, uint64_t result_length,
                                          const connector_error *CONNECTOR_NULLABLE error_borrowed);

    /**
     * Reports the progress of a pending call as JSON, any number of times before it completes. Returns the statuses of
     * `complete`, or CONNECTOR_TOO_LARGE for more than 64 KiB. [any]
     */
    int32_t (*CONNECTOR_NONNULL progress)(void *CONNECTOR_NONNULL context, uint64_t operation,
                                          const char *CONNECTOR_NONNULL json_borrowed, uint64_t json_length);
} connector_host;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/layout.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * layout.h: the layout of every struct of the ABI on 64-bit platforms, as one table. Including it asserts the layout,
 * in C99, C11 and C++17, with the compiler and flags that a plugin is built with. `make layout` writes the assertions
 * for Rust and Swift from it. A field may be added at the end of a struct, which makes its size grow; an offset never
 * changes.
 */
#ifndef CONNECTOR_LAYOUT_H
#define CONNECTOR_LAYOUT_H

#include "connector.h"

/** SIZE(struct, bytes) and OFFSET(struct, field, bytes), for each struct and each field. */
#define CONNECTOR_LAYOUT(SIZE, OFFSET)                                                                                 \
    SIZE(connector_error, 1024)                                                                                        \
    OFFSET(connector_error, struct_size, 0)                                                                            \
    OFFSET(connector_error, code, 4)                                                                                   \
    OFFSET(connector_error, retryable, 8)                                                                              \
    OFFSET(connector_error, detail, 12)                                                                                \
    OFFSET(connector_error, retry_after_ns, 16)                                                                        \
    OFFSET(connector_error, domain, 24)                                                                                \
    OFFSET(connector_error, message, 56)                                                                               \
    SIZE(connector_call, 24)                                                                                           \
    OFFSET(connector_call, struct_size, 0)                                                                             \
    OFFSET(connector_call, flags, 4)                                                                                   \
    OFFSET(connector_call, operation, 8)                                                                               \
    OFFSET(connector_call, deadline_ns, 16)                                                                            \
    SIZE(connector_bytes_owned, 40)                                                                                    \
    OFFSET(connector_bytes_owned, struct_size, 0)                                                                      \
    OFFSET(connector_bytes_owned, flags, 4)                                                                            \
    OFFSET(connector_bytes_owned, data, 8)                                                                             \
    OFFSET(connector_bytes_owned, length, 16)                                                                          \
    OFFSET(connector_bytes_owned, context, 24)                                                                         \
    OFFSET(connector_bytes_owned, release, 32)                                                                         \
    SIZE(connector_host, 40)                                                                                           \
    OFFSET(connector_host, struct_size, 0)                                                                             \
    OFFSET(connector_host, abi_version, 4)                                                                             \
    OFFSET(connector_host, context, 8)                                                                                 \
    OFFSET(connector_host, service, 16)                                                                                \
    OFFSET(connector_host, complete, 24)                                                                               \
    OFFSET(connector_host, progress, 32)                                                                               \
    SIZE(connector_plugin, 56)                                                                                         \
    OFFSET(connector_plugin, struct_size, 0)                                                                           \
    OFFSET(connector_plugin, abi_version, 4)                                                                           \
    OFFSET(connector_plugin, create, 8)                                                                                \
    OFFSET(connector_plugin, open, 16)                                                                                 \
    OFFSET(connector_plugin, probe, 24)                                                                                \
    OFFSET(connector_plugin, close, 32)                                                                                \
    OFFSET(connector_plugin, destroy, 40)                                                                              \
    OFFSET(connector_plugin, cancel, 48)                                                                               \
    SIZE(connector_log, 24)                                                                                            \
    OFFSET(connector_log, struct_size, 0)                                                                              \
    OFFSET(connector_log, level, 4)                                                                                    \
    OFFSET(connector_log, context, 8)                                                                                  \
    OFFSET(connector_log, log, 16)                                                                                     \
    SIZE(connector_clock, 48)                                                                                          \
    OFFSET(connector_clock, struct_size, 0)                                                                            \
    OFFSET(connector_clock, flags, 4)                                                                                  \
    OFFSET(connector_clock, context, 8)                                                                                \
    OFFSET(connector_clock, wall_ns, 16)                                                                               \
    OFFSET(connector_clock, monotonic_ns, 24)                                                                          \
    OFFSET(connector_clock, start_timer, 32)                                                                           \
    OFFSET(connector_clock, cancel_timer, 40)                                                                          \
    SIZE(connector_http_header, 32)                                                                                    \
    OFFSET(connector_http_header, name, 0)                                                                             \
    OFFSET(connector_http_header, name_length, 8)                                                                      \
    OFFSET(connector_http_header, value, 16)                                                                           \
    OFFSET(connector_http_header, value_length, 24)                                                                    \
    SIZE(connector_http_request, 88)                                                                                   \
    OFFSET(connector_http_request, struct_size, 0)                                                                     \
    OFFSET(connector_http_request, flags, 4)                                                                           \
    OFFSET(connector_http_request, method, 8)                                                                          \
    OFFSET(connector_http_request, method_length, 16)                                                                  \
    OFFSET(connector_http_request, url, 24)                                                                            \
    OFFSET(connector_http_request, url_length, 32)                                                                     \
    OFFSET(connector_http_request, headers, 40)                                                                        \
    OFFSET(connector_http_request, header_count, 48)                                                                   \
    OFFSET(connector_http_request, body, 56)                                                                           \
    OFFSET(connector_http_request, body_length, 64)                                                                    \
    OFFSET(connector_http_request, deadline_ns, 72)                                                                    \
    OFFSET(connector_http_request, during, 80)                                                                         \
    SIZE(connector_http_response, 40)                                                                                  \
    OFFSET(connector_http_response, struct_size, 0)                                                                    \
    OFFSET(connector_http_response, status, 4)                                                                         \
    OFFSET(connector_http_response, headers, 8)                                                                        \
    OFFSET(connector_http_response, header_count, 16)                                                                  \
    OFFSET(connector_http_response, body, 24)                                                                          \
    OFFSET(connector_http_response, body_length, 32)                                                                   \
    SIZE(connector_http, 56)                                                                                           \
    OFFSET(connector_http, struct_size, 0)                                                                             \
    OFFSET(connector_http, flags, 4)                                                                                   \
    OFFSET(connector_http, context, 8)                                                                                 \
    OFFSET(connector_http, request, 16)                                                                                \
    OFFSET(connector_http, cancel, 24)                                                                                 \
    OFFSET(connector_http, stream, 32)                                                                                 \
    OFFSET(connector_http, resume, 40)                                                                                 \
    OFFSET(connector_http, write, 48)                                                                                  \
    SIZE(connector_http_receiver, 48)                                                                                  \
    OFFSET(connector_http_receiver, struct_size, 0)                                                                    \
    OFFSET(connector_http_receiver, flags, 4)                                                                          \
    OFFSET(connector_http_receiver, part, 8)                                                                           \
    OFFSET(connector_http_receiver, done, 16)                                                                          \
    OFFSET(connector_http_receiver, user, 24)                                                                          \
    OFFSET(connector_http_receiver, silence_ns, 32)                                                                    \
    OFFSET(connector_http_receiver, room, 40)                                                                          \
    SIZE(connector_gates_call, 72)                                                                                     \
    OFFSET(connector_gates_call, struct_size, 0)                                                                       \
    OFFSET(connector_gates_call, flags, 4)                                                                             \
    OFFSET(connector_gates_call, use, 8)                                                                               \
    OFFSET(connector_gates_call, use_length, 16)                                                                       \
    OFFSET(connector_gates_call, operation, 24)                                                                        \
    OFFSET(connector_gates_call, operation_length, 32)                                                                 \
    OFFSET(connector_gates_call, arguments, 40)                                                                        \
    OFFSET(connector_gates_call, arguments_length, 48)                                                                 \
    OFFSET(connector_gates_call, deadline_ns, 56)                                                                      \
    OFFSET(connector_gates_call, during, 64)                                                                           \
    SIZE(connector_gates, 40)                                                                                          \
    OFFSET(connector_gates, struct_size, 0)                                                                            \
    OFFSET(connector_gates, flags, 4)                                                                                  \
    OFFSET(connector_gates, context, 8)                                                                                \
    OFFSET(connector_gates, call, 16)                                                                                  \
    OFFSET(connector_gates, cancel, 24)                                                                                \
    OFFSET(connector_gates, bound, 32)                                                                                 \
    SIZE(connector_events, 24)                                                                                         \
    OFFSET(connector_events, struct_size, 0)                                                                           \
    OFFSET(connector_events, flags, 4)                                                                                 \
    OFFSET(connector_events, context, 8)                                                                               \
    OFFSET(connector_events, emit, 16)                                                                                 \
    SIZE(connector_storage, 56)                                                                                        \
    OFFSET(connector_storage, struct_size, 0)                                                                          \
    OFFSET(connector_storage, flags, 4)                                                                                \
    OFFSET(connector_storage, context, 8)                                                                              \
    OFFSET(connector_storage, get, 16)                                                                                 \
    OFFSET(connector_storage, set, 24)                                                                                 \
    OFFSET(connector_storage, remove, 32)                                                                              \
    OFFSET(connector_storage, list, 40)                                                                                \
    OFFSET(connector_storage, replace, 48)

/* C99 has no assertion: an array of -1 elements does not compile, either. */
#if defined(__cplusplus)
#define CONNECTOR_LAYOUT_SIZE(type, size) static_assert(sizeof(type) == (size), "the size of " #type);
#define CONNECTOR_LAYOUT_OFFSET(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field);
#else
#define CONNECTOR_LAYOUT_SIZE(type, size) typedef char size_of_##type[sizeof(type) == (size) ? 1 : -1];
#define CONNECTOR_LAYOUT_OFFSET(type, field, offset)                                                                   \
    typedef char offset_of_##type##_##field[offsetof(type, field) == (offset) ? 1 : -1];
#endif

#if UINTPTR_MAX == UINT64_MAX
CONNECTOR_LAYOUT(CONNECTOR_LAYOUT_SIZE, CONNECTOR_LAYOUT_OFFSET)
#endif

#endif

"""##,
"connector/manifest.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * manifest.h: how a plugin carries its manifest, so that it can be read without running the plugin.
 *
 * The manifest is UTF-8 JSON in an ELF note (name "connector", type 1, section ".note.connector"; elf(5), "Notes").
 * On Apple platforms it is the plain text in the section "__DATA,__connector".
 *
 * A sidecar describes a library without the note: the same JSON in the file NAME.connector.json beside libNAME.so. If a
 * library has both, they must be equal.
 *
 * A plugin need not have every operation of a standard capability. "analytics/1": {} means all of them, ["track",
 * "flush"] only these, {"except": ["alias"]} all but these. Calls of an omitted operation fail as `unsupported`.
 *
 * In the configuration that `create` receives, a field of type "duration" is a string as written in the file, such as
 * "250ms", "5s" or "2m": a whole number and ms, s, m or h. A "url" is a string, too. So is a "path", which the host has
 * resolved from the directory of connectors.json.
 */
#ifndef CONNECTOR_MANIFEST_H
#define CONNECTOR_MANIFEST_H

#include "base.h"

#define CONNECTOR_NOTE_SECTION ".note.connector"
#define CONNECTOR_NOTE_NAME "connector"
#define CONNECTOR_NOTE_TYPE 1u

/**
 * Embeds a manifest. Write it at file scope, once in a plugin, as plain JSON:
 *
 *   CONNECTOR_MANIFEST({
 *     "manifest": 1,
 *     "id": "hello",
 *     …
 *   });
 */
#define CONNECTOR_MANIFEST(...) CONNECTOR_MANIFEST_TEXT(#__VA_ARGS__)

#ifdef __APPLE__
#define CONNECTOR_MANIFEST_TEXT(text)                                                                                  \
    __attribute__((used, section("__DATA,__connector"))) static const char connector_manifest_text[] = text
#elif defined(__cplusplus)
/** A note whose text has Size - 1 bytes: C++ would keep the NUL of a literal, which is not part of a note. */
extern "C++" {
template <uint32_t Size> struct connector_manifest_note_of {
    uint32_t name_size = sizeof(CONNECTOR_NOTE_NAME);
    uint32_t text_size = Size - 1;
    uint32_t type = CONNECTOR_NOTE_TYPE;
    char name[12] = CONNECTOR_NOTE_NAME;
    char text_and_padding[(Size + 2u) & ~3u] = {};
    constexpr explicit connector_manifest_note_of(const char (&text)[Size]) {
        for (uint32_t index = 0; index + 1 < Size; index++) text_and_padding[index] = text[index];
    }
};
}
#define CONNECTOR_MANIFEST_TEXT(text)                                                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverlength-strings\"")                          \
    __attribute__((used, section(CONNECTOR_NOTE_SECTION), aligned(4))) static constexpr                                \
        connector_manifest_note_of<sizeof(text)> connector_manifest_note{text};                                        \
    _Pragma("GCC diagnostic pop")                                                                                      \
    struct connector_manifest_note_end
#else
/* A text whose length is a multiple of four fills the array and leaves no room for the NUL. */
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wunterminated-string-initialization")
#define CONNECTOR_MANIFEST_UNTERMINATED _Pragma("GCC diagnostic ignored \"-Wunterminated-string-initialization\"")
#endif
#elif defined(__GNUC__) && __GNUC__ >= 15
#define CONNECTOR_MANIFEST_UNTERMINATED _Pragma("GCC diagnostic ignored \"-Wunterminated-string-initialization\"")
#endif
#ifndef CONNECTOR_MANIFEST_UNTERMINATED
#define CONNECTOR_MANIFEST_UNTERMINATED
#endif
#define CONNECTOR_MANIFEST_TEXT(text)                                                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverlength-strings\"")                          \
    CONNECTOR_MANIFEST_UNTERMINATED                                                                                    \
    __attribute__((used, section(CONNECTOR_NOTE_SECTION), aligned(4))) static const struct {                           \
        uint32_t name_size;                                                                                            \
        uint32_t text_size;                                                                                            \
        uint32_t type;                                                                                                 \
        char name[12];                                                                                                 \
        char text_and_padding[(sizeof(text) + 2u) & ~3u];                                                              \
    } connector_manifest_note = {sizeof(CONNECTOR_NOTE_NAME), sizeof(text) - 1, CONNECTOR_NOTE_TYPE,                   \
                                 CONNECTOR_NOTE_NAME, text};                                                           \
    _Pragma("GCC diagnostic pop")                                                                                      \
    struct connector_manifest_note_end
#endif

#endif

"""##,
"connector/operation.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * operation.h: how the host calls operations, and how they complete.
 *
 * An operation is an exported function named in the manifest. Its C prototype follows from its signature.
 *
 *   synchronous:   int32_t f(void *instance, PARAMETERS, RESULTS, connector_error *error)
 *   asynchronous:  int32_t f(void *instance, const connector_call *call, PARAMETERS, connector_error *error)
 *
 *   in the signature        in C
 *   i8 … i64, u8 … u64      int8_t … int64_t, uint8_t … uint64_t
 *   f32, f64                float, double
 *   handle                  void *
 *   string, json            const char *, uint64_t length in bytes (borrowed)
 *   bytes                   const uint8_t *, uint64_t length (borrowed)
 *   T?                      a null pointer means no value; an optional scalar is passed by pointer to const
 *   x: out SCALAR           a pointer to the scalar, written by the callee
 *   x: out bytes            uint8_t *buffer, uint64_t capacity, uint64_t *length: the caller's buffer; the callee
 *                           always sets *length to the length it needs, and returns CONNECTOR_TOO_LARGE if that
 *                           exceeds the capacity (also x: out string, x: out json, with char *). The host lends
 *                           64 KiB and does not call again with more: return what may be longer with -> bytes
 *   -> SCALAR               a pointer to the scalar, as an out parameter at the end
 *   -> string, bytes, json  connector_bytes_owned *, filled in by the callee (synchronous)
 *   -> (a: T, b: U)         several results with names, in order, each as above; synchronous only
 *
 * An asynchronous operation returns nothing, or one string, bytes or json. It returns no scalar, no handle and only
 * one result, and has no out parameters; put several values into json. An operation that declares json completes with
 * JSON text, such as `null`. Completing it without a result is misbehaviour, and so is a result that the host does not
 * accept as JSON: text that is not UTF-8, duplicate names in an object, escapes of half a surrogate pair, numbers
 * beyond a double, and more than 144 levels of nesting: 128 of a value, which is also the most of a json argument that is
 * no batch, and 16 of what is put around it. Do not pass on unchecked what a vendor sent.
 *
 * Two types exist for libraries that were not written for connectors, and that a sidecar describes (see manifest.h):
 * `cstring`, a const char * that ends with NUL, and `bytes32`, which is bytes with a uint32_t length. Such functions
 * take neither instance, call nor error.
 *
 * An asynchronous operation returns CONNECTOR_OK once it has accepted the call, and then completes the call exactly once
 * through connector_host.complete, from any thread, even before it returns. If it returns any other status, the call is
 * over and must not be completed.
 *
 * No operation blocks the calling thread. The host makes calls by name on threads that it can afford to lose, and
 * times them out at their deadlines; a function that is still running then is misbehaviour. Typed calls have no such
 * protection. An operation whose manifest says `"prompt": true` has none either, and must return within microseconds:
 * calls by name run it on the caller's thread, of an instance fewer at a time than there are processors, but one at least;
 * the rest run on the host's threads.
 * A call that takes over a millisecond is misbehaviour, and later calls run on other threads until enough of them in a
 * row have taken less. A call that never returns keeps its caller's thread. Calls by the command line and by the API,
 * by plugins that use the gate, and deliveries run on the host's threads, and keep their timeouts.
 */
#ifndef CONNECTOR_OPERATION_H
#define CONNECTOR_OPERATION_H

#include "error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/** No deadline: see connector_call.deadline_ns. */
#define CONNECTOR_NO_DEADLINE UINT64_MAX

/** One asynchronous call, borrowed for the duration of the function that receives it. */
typedef struct connector_call {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Identifies the call in `complete` and `progress`. Unique for the life of the process. */
    uint64_t operation;
    /** When the host times the call out, in monotonic nanoseconds of clock/1; CONNECTOR_NO_DEADLINE if never. */
    uint64_t deadline_ns;
} connector_call;

/**
 * A result that the callee allocated and the caller releases. The caller sets `struct_size` and clears the rest; the callee
 * fills it in. If the callee returns a status other than CONNECTOR_OK, the caller ignores whatever is in it: the callee
 * frees what it has allocated.
 */
typedef struct connector_bytes_owned {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** The bytes; null only if `length` is 0. */
    const uint8_t *CONNECTOR_NULLABLE data;
    uint64_t length;
    /** Passed to `release`. */
    void *CONNECTOR_NULLABLE context;
    /** Frees the bytes; null if there is nothing to free. Called once, [any]. */
    void (*CONNECTOR_NULLABLE release)(void *CONNECTOR_NULLABLE context);
} connector_bytes_owned;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/plugin.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * plugin.h: the entry function of a plugin and the life cycle of its instances.
 *
 * The manifest names one exported function as its "entry":
 *
 *   CONNECTOR_EXPORT const connector_plugin *my_plugin(void);
 *
 * The function returns a static table and does nothing else. A plugin has any number of instances, one for each gate:
 *
 *   create → open → (operations, probe)* → close → destroy
 *
 * `open`, `probe` and `close` are asynchronous operations. `open` and `probe` complete with their evidence as JSON: an
 * array of objects in any order,
 *
 *   [{"kind": "configured" | "reachable" | "authenticated", "detail": "for a person"}]
 *
 * A plugin claims the strongest kind that it has just proved, never more. The proof leaves no trace at the vendor.
 *
 * Forbidden to plugins: work in constructors, fork, signal handlers, setenv, chdir, exit, writing to standard output,
 * blocking the calling thread, returning with another floating-point mode (rounding, traps, denormals).
 */
#ifndef CONNECTOR_PLUGIN_H
#define CONNECTOR_PLUGIN_H

#include "host.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/** The life cycle of a plugin's instances: a static table that the entry function returns. */
typedef struct connector_plugin {
    uint32_t struct_size;
    /** The version of the ABI that the plugin was compiled for: CONNECTOR_ABI_VERSION. */
    uint32_t abi_version;

    /**
     * Creates an instance from its configuration: a JSON object with every field of the manifest that has a value or a
     * default, already checked against the manifest. A secret appears as {{secret:NAME}}, which the host replaces in
     * requests: see services/http.h.
     *
     * Does no I/O. `*instance_owned` belongs to the host until `destroy`. [lifecycle]
     */
    int32_t (*CONNECTOR_NONNULL create)(const connector_host *CONNECTOR_NONNULL host,
                                        const char *CONNECTOR_NONNULL config_borrowed, uint64_t config_length,
                                        void *CONNECTOR_NULLABLE *CONNECTOR_NONNULL instance_owned,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Connects to the outside world and completes with evidence. [lifecycle] */
    int32_t (*CONNECTOR_NONNULL open)(void *CONNECTOR_NULLABLE instance, const connector_call *CONNECTOR_NONNULL call_borrowed,
                                      connector_error *CONNECTOR_NONNULL error);

    /** Proves again that the outside world answers, and completes with evidence. Null: never stale. [lifecycle] */
    int32_t (*CONNECTOR_NULLABLE probe)(void *CONNECTOR_NULLABLE instance,
                                        const connector_call *CONNECTOR_NONNULL call_borrowed,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Finishes pending work and disconnects. Null: nothing to do. [lifecycle] */
    int32_t (*CONNECTOR_NULLABLE close)(void *CONNECTOR_NULLABLE instance,
                                        const connector_call *CONNECTOR_NONNULL call_borrowed,
                                        connector_error *CONNECTOR_NONNULL error);

    /** Frees the instance. Once it returns, no code of the instance runs or calls the host. [lifecycle] */
    void (*CONNECTOR_NONNULL destroy)(void *CONNECTOR_NULLABLE instance);

    /**
     * The host cancelled a call: stop working on it soon. A later completion of the call returns
     * CONNECTOR_UNKNOWN_OPERATION. It may come while the function that receives the call still runs, and then comes again
     * after that has returned. Idempotent; an unknown operation is not an error. Null: calls cannot be stopped. [any]
     */
    void (*CONNECTOR_NULLABLE cancel)(void *CONNECTOR_NULLABLE instance, uint64_t operation);
} connector_plugin;

/** The type of the function that the manifest names as its "entry". Runs no other code and cannot fail. [any] */
typedef const connector_plugin *CONNECTOR_NONNULL (*connector_entry)(void);

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/services/clock.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/clock.h: "clock/1", the time and timers. A host under test may use a manual clock.
 */
#ifndef CONNECTOR_SERVICES_CLOCK_H
#define CONNECTOR_SERVICES_CLOCK_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_CLOCK_SERVICE "clock/1"

/** The table of clock/1. */
typedef struct connector_clock {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /** Nanoseconds since 1970-01-01T00:00:00Z. Can jump. [any] */
    uint64_t (*CONNECTOR_NONNULL wall_ns)(void *CONNECTOR_NONNULL context);

    /** Nanoseconds since a fixed moment before the host started. Never jumps; the clock of deadlines. [any] */
    uint64_t (*CONNECTOR_NONNULL monotonic_ns)(void *CONNECTOR_NONNULL context);

    /**
     * Calls `fire(user)` once, `delay_ns` from now, on a thread of the host; `fire` must not block. `*timer` identifies
     * it to `cancel_timer` and is set before `fire` can run. A timer that is pending when the instance ends never
     * fires: cancel it in `destroy` to learn whether `user` may be freed. Returns CONNECTOR_OK; CONNECTOR_NOT_OPEN once
     * the instance is being destroyed; CONNECTOR_UNAVAILABLE if the system cannot create a thread for timers;
     * CONNECTOR_TOO_LARGE if 65,536 timers of the instance are pending. [any]
     */
    int32_t (*CONNECTOR_NONNULL start_timer)(void *CONNECTOR_NONNULL context, uint64_t delay_ns,
                                             void (*CONNECTOR_NONNULL fire)(void *CONNECTOR_NULLABLE user),
                                             void *CONNECTOR_NULLABLE user, uint64_t *CONNECTOR_NONNULL timer);

    /**
     * Returns CONNECTOR_OK if `fire` has not run and will not; CONNECTOR_UNKNOWN_OPERATION if it has run, is running,
     * was cancelled before, or never existed. [any]
     */
    int32_t (*CONNECTOR_NONNULL cancel_timer)(void *CONNECTOR_NONNULL context, uint64_t timer);
} connector_clock;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/services/events.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/events.h: "events/1", unsolicited events for the application: a change at the vendor, a new
 * device. The host adds the connector's path and the time, and removes secrets.
 */
#ifndef CONNECTOR_SERVICES_EVENTS_H
#define CONNECTOR_SERVICES_EVENTS_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_EVENTS_SERVICE "events/1"

/** The greatest length of an event's name, in bytes. */
#define CONNECTOR_EVENT_NAME_LIMIT 64
/** The greatest length of an event's JSON, in bytes. */
#define CONNECTOR_EVENT_JSON_LIMIT 65536

/** The table of events/1. */
typedef struct connector_events {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument. */
    void *CONNECTOR_NONNULL context;

    /**
     * Sends an event to the current listeners, and never waits for them. A slow listener loses the oldest events
     * and learns how many. The name is a letter followed by letters, digits, '.', '_' and '-' (ASCII); the JSON is any
     * value, or null for none.
     *
     * Returns CONNECTOR_OK, even without listeners; CONNECTOR_TOO_LARGE beyond the limits above; CONNECTOR_MISUSE for
     * any other name, or for invalid JSON. The host checks the JSON only for a listener: without one, an event is
     * nearly free. [any]
     */
    int32_t (*CONNECTOR_NONNULL emit)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL name_borrowed,
                                      uint64_t name_length, const char *CONNECTOR_NULLABLE json_borrowed,
                                      uint64_t json_length);
} connector_events;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/services/gates.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/gates.h: "gates/1", calls of the gates that the plugin uses.
 *
 * A manifest names what the plugin uses: "uses": { "settings": "settings/1" }. The configuration binds each name to a
 * connector; it may leave out one that is optional: { "capability": "settings/1", "optional": true }. The plugin
 * reaches the operations of that capability and nothing else, and never learns which connector provides them. The
 * service is null if the manifest has no "uses"; "services" does not name it.
 *
 * The used gate has opened, or failed, before the plugin's `open`, and closes after the plugin's `close`.
 */
#ifndef CONNECTOR_SERVICES_GATES_H
#define CONNECTOR_SERVICES_GATES_H

#include "../operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_GATES_SERVICE "gates/1"

/** A call of a used gate, borrowed for the duration of connector_gates.call. */
typedef struct connector_gates_call {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** The name in the manifest's "uses". */
    const char *CONNECTOR_NONNULL use;
    uint64_t use_length;
    /** The operation's name in the capability, such as "get". */
    const char *CONNECTOR_NONNULL operation;
    uint64_t operation_length;
    /**
     * JSON: an object of arguments by name, or an array of them in order; null for none. `bytes` are {"base64": "…"}, or a
     * string, which means its own UTF-8 bytes.
     */
    const char *CONNECTOR_NULLABLE arguments;
    uint64_t arguments_length;
    /** When the call times out, in monotonic nanoseconds; CONNECTOR_NO_DEADLINE for that of `during`, or else 30 s. */
    uint64_t deadline_ns;
    /**
     * The plugin's own call that this one serves: its connector_call.operation. 0 stands for the call that the thread
     * is running, if any; a callback of the host runs in the call that asked for it. A number that no call has, such as
     * UINT64_MAX, stands for none: use it for background work. When the host gives that call up, it cancels this one,
     * whose deadline is never later than that call's.
     */
    uint64_t during;
} connector_gates_call;

/**
 * Receives the end of a call, exactly once: `status` CONNECTOR_OK and the result as JSON, which the host has checked (null
 * if the operation has none; `bytes` are {"base64": "…"}), or a failure and an error, which names the used connector: the
 * used gate's own, CONNECTOR_NOT_OPEN, CONNECTOR_TIMED_OUT, CONNECTOR_CANCELLED, CONNECTOR_UNSUPPORTED, CONNECTOR_INVALID.
 * Runs on a thread of the host, one callback at a time for a gate, and must not block. It never runs inside `call` on the
 * caller's thread, but may run on another thread before `call` has returned. It has run before the plugin's `destroy`, and
 * never runs after it.
 */
typedef void (*connector_gates_done)(void *CONNECTOR_NULLABLE user, int32_t status,
                                     const char *CONNECTOR_NULLABLE json_borrowed, uint64_t json_length,
                                     const connector_error *CONNECTOR_NULLABLE error_borrowed);

/** The table of gates/1. */
typedef struct connector_gates {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /**
     * Calls an operation of a used gate. After CONNECTOR_OK, `done(user, …)` runs once; after a failure, it never runs:
     * CONNECTOR_INVALID (a name that is not in "uses", arguments that are not JSON), CONNECTOR_RATE_LIMITED (too many calls
     * in progress, or too much in their arguments), CONNECTOR_NOT_OPEN (the gate is closing). The host copies everything
     * before it returns. `*call_id` identifies the call to `cancel` and is set before `done` can run. [any]
     */
    int32_t (*CONNECTOR_NONNULL call)(void *CONNECTOR_NONNULL context,
                                      const connector_gates_call *CONNECTOR_NONNULL call_borrowed,
                                      connector_gates_done CONNECTOR_NONNULL done, void *CONNECTOR_NULLABLE user,
                                      uint64_t *CONNECTOR_NONNULL call_id, connector_error *CONNECTOR_NONNULL error);

    /** Cancels a call: `done` runs soon with CONNECTOR_CANCELLED, unless it has run already. Idempotent. [any] */
    void (*CONNECTOR_NONNULL cancel)(void *CONNECTOR_NONNULL context, uint64_t call_id);

    /**
     * Whether a connector is bound to a use: CONNECTOR_OK if one is; CONNECTOR_UNSUPPORTED if the use is optional and none
     * is, in which case `call` fails with the same status; CONNECTOR_INVALID if "uses" does not name it. The answer never
     * changes for an instance. An older host does not have this function, and no optional uses: check CONNECTOR_HAS_FIELD.
     * [any]
     */
    int32_t (*CONNECTOR_NONNULL bound)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL use_borrowed,
                                       uint64_t use_length);
} connector_gates;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/services/http.h": ##"""
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

"""##,
"connector/services/log.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/log.h: "log/1", the application's log. The host adds the connector's path, as the field "connector", and removes
 * secrets.
 */
#ifndef CONNECTOR_SERVICES_LOG_H
#define CONNECTOR_SERVICES_LOG_H

#include "../error.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_LOG_SERVICE "log/1"

/** Levels of connector_log.log, which are those of the application's log. */
#define CONNECTOR_LOG_TRACE 0
#define CONNECTOR_LOG_DEBUG 1
#define CONNECTOR_LOG_INFO 2
#define CONNECTOR_LOG_NOTICE 3
#define CONNECTOR_LOG_WARNING 4
#define CONNECTOR_LOG_ERROR 5
#define CONNECTOR_LOG_CRITICAL 6

/** The table of log/1. */
typedef struct connector_log {
    uint32_t struct_size;
    /** The lowest level that the application records when the host hands out the table; skip lines below it. */
    int32_t level;
    /** Passed back as the first argument. */
    void *CONNECTOR_NONNULL context;

    /**
     * Writes one line. An unknown level counts as the nearest known one. `fields_borrowed` is a JSON object of further
     * values, or null. Returns CONNECTOR_OK, or CONNECTOR_MISUSE if a text is not UTF-8 or longer than 64 KiB, or the
     * fields are not a JSON object: the host repairs the line and logs it anyway. Of what an instance writes in one
     * second, 1000 lines and 256 KiB are logged; the host leaves out the other lines, logs how many, and returns
     * CONNECTOR_OK. [any]
     */
    int32_t (*CONNECTOR_NONNULL log)(void *CONNECTOR_NONNULL context, int32_t level,
                                     const char *CONNECTOR_NONNULL message_borrowed, uint64_t message_length,
                                     const char *CONNECTOR_NULLABLE fields_borrowed, uint64_t fields_length);
} connector_log;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
"connector/services/storage.h": ##"""
/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * services/storage.h: "storage/1", a few values that survive a restart: a cursor, a token, a setting. Each gate has
 * separate values, kept under the application and the gate's path in the tree; successive instances of one gate see the
 * same values.
 *
 * Not for events on their way to a vendor, and not for secrets of the configuration.
 */
#ifndef CONNECTOR_SERVICES_STORAGE_H
#define CONNECTOR_SERVICES_STORAGE_H

#include "../operation.h"

CONNECTOR_BEGIN_DECLS

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#define CONNECTOR_STORAGE_SERVICE "storage/1"

/** The greatest length of a key, in bytes; the least is 1. */
#define CONNECTOR_STORAGE_KEY_LIMIT 128
/** The greatest length of a value, in bytes. */
#define CONNECTOR_STORAGE_VALUE_LIMIT 65536
/** The greatest length of all keys and values of one gate together, in bytes. */
#define CONNECTOR_STORAGE_TOTAL_LIMIT 1048576

/**
 * The table of storage/1. Keys are UTF-8 and compared byte by byte.
 *
 * The first call reads a file; later reads come from memory. `set`, `remove` and `replace` write the file and return once
 * it is on the disk, which takes milliseconds. A change is atomic, even across a crash.
 *
 * Besides the statuses below, all return CONNECTOR_INVALID for a key that breaks the rules, CONNECTOR_MISUSE for null or
 * a struct_size that is too small, and CONNECTOR_UNAVAILABLE if the file cannot be read or written.
 */
typedef struct connector_storage {
    uint32_t struct_size;
    /** Reserved, 0. */
    uint32_t flags;
    /** Passed back as the first argument of every function below. */
    void *CONNECTOR_NONNULL context;

    /** Reads a value into `*value_owned`, whose struct_size the caller sets. CONNECTOR_NOT_FOUND if there is none. [any] */
    int32_t (*CONNECTOR_NONNULL get)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                     uint64_t key_length, connector_bytes_owned *CONNECTOR_NONNULL value_owned,
                                     connector_error *CONNECTOR_NONNULL error);

    /** Writes a value, which may be empty. CONNECTOR_TOO_LARGE beyond the limits above; nothing is changed then. [any] */
    int32_t (*CONNECTOR_NONNULL set)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                     uint64_t key_length, const uint8_t *CONNECTOR_NULLABLE value_borrowed,
                                     uint64_t value_length, connector_error *CONNECTOR_NONNULL error);

    /** Removes a value. CONNECTOR_NOT_FOUND if there is none. [any] */
    int32_t (*CONNECTOR_NONNULL remove)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                        uint64_t key_length, connector_error *CONNECTOR_NONNULL error);

    /**
     * Lists the keys that start with a prefix, all for an empty one, as a JSON array of strings in the order of their
     * bytes, into `*keys_owned`, whose struct_size the caller sets. [any]
     */
    int32_t (*CONNECTOR_NONNULL list)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NULLABLE prefix_borrowed,
                                      uint64_t prefix_length, connector_bytes_owned *CONNECTOR_NONNULL keys_owned,
                                      connector_error *CONNECTOR_NONNULL error);

    /**
     * Writes a value as `set` does, but only if the key still has the value `expected`, which is null for none; an empty
     * one is not null. CONNECTOR_CONFLICT if it has another by now; nothing is changed then.
     *
     * To change a part of a value, `get` it, change it and `replace` it, and begin again after a conflict. A plain `set`
     * would undo what others write in between: another instance of the gate, because a reload opens the next one before
     * the earlier one ends, or another host of the application. Tables of older hosts end before this field. [any]
     */
    int32_t (*CONNECTOR_NONNULL replace)(void *CONNECTOR_NONNULL context, const char *CONNECTOR_NONNULL key_borrowed,
                                         uint64_t key_length, const uint8_t *CONNECTOR_NULLABLE expected_borrowed,
                                         uint64_t expected_length, const uint8_t *CONNECTOR_NULLABLE value_borrowed,
                                         uint64_t value_length, connector_error *CONNECTOR_NONNULL error);
} connector_storage;

#ifdef __clang__
#pragma clang diagnostic pop
#endif

CONNECTOR_END_DECLS

#endif

"""##,
    ]
}
