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
