/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int learned_covers(const learned_paths *paths, const char *path) {
    for (int index = 0; index < paths->count; index++) {
        const char *known = paths->paths[index];
        const size_t length = strlen(known);
        if (strncmp(known, path, length) == 0 && (path[length] == 0 || path[length] == '/')) return 1;
    }
    return 0;
}

int learned_add(learned_paths *paths, const char *path) {
    const size_t length = strlen(path);
    if (paths->count == LEARNED_COUNT || length == 0 || length >= sizeof paths->paths[0]) return 0;
    for (size_t index = 0; index < length; index++) {
        if ((unsigned char)path[index] < ' ' || path[index] == '"' || path[index] == '\\') return 0;
    }
    if (learned_covers(paths, path)) return 0;
    memcpy(paths->paths[paths->count++], path, length + 1);
    return 1;
}

int learned_refuse(learned *learned, int32_t number) {
    for (int index = 0; index < learned->refused_count; index++) {
        if (learned->refused[index] == number) return 0;
    }
    if (learned->refused_count == LEARNED_COUNT) return 0;
    learned->refused[learned->refused_count++] = number;
    return 1;
}

/** A text that grows, and is cut where it has no room. */
typedef struct text {
    char *bytes;
    size_t length, capacity;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(text->bytes + text->length, text->capacity - text->length, format, arguments);
    va_end(arguments);
    if (count > 0) text->length += (size_t)count;
    if (text->length >= text->capacity) text->length = text->capacity - 1;
}

static void add_paths(text *text, const char *key, const learned_paths *paths, int *has_more) {
    if (paths->count == 0) return;
    add(text, "%s\"%s\": [", *has_more ? ", " : "", key);
    for (int index = 0; index < paths->count; index++) add(text, "%s\"%s\"", index == 0 ? "" : ", ", paths->paths[index]);
    add(text, "]");
    *has_more = 1;
}

size_t learned_text(const learned *learned, char *bytes, size_t capacity) {
    text text = {bytes, 0, capacity};
    int has_more = 0;
    add(&text, "\"sandbox\": {");
    add_paths(&text, "read", &learned->read, &has_more);
    add_paths(&text, "write", &learned->write, &has_more);
    if (learned->network) add(&text, "%s\"network\": true", has_more ? ", " : "");
    add(&text, "}\n");
    return text.length;
}
