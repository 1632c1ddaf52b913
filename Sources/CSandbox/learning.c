/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "learning.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_FILE {-1, -1}
/** A call that writes one file, or two. */
#define WRITES(name, directory, path) {name, {{directory, path}, NO_FILE}, LEARNED_WRITES, 0, 0}
#define RENAMES(name, directory, path) {name, {{directory, path}, NO_FILE}, LEARNED_WRITES, 0, 1}
#define RENAMES_TWO(name, directory, path, other_directory, other_path) \
    {name, {{directory, path}, {other_directory, other_path}}, LEARNED_WRITES, 0, 1}

/** Every call that rules.c allows only to a plugin that may write, the calls that open files, and the one that asks about a disk. */
static const learned_call calls[] = {
    {"open", {{-1, 0}, NO_FILE}, 1, 0, 0}, {"openat", {{0, 1}, NO_FILE}, 2, 0, 0}, {"openat2", {{0, 1}, NO_FILE}, 2, 1, 0},
    /* Landlock does not hide a disk, but the namespaces do. */
    {"statfs", {{-1, 0}, NO_FILE}, LEARNED_READS, 0, 0},
    WRITES("creat", -1, 0), WRITES("truncate", -1, 0), WRITES("ftruncate", 0, -1), WRITES("fallocate", 0, -1),
    WRITES("chmod", -1, 0), WRITES("fchmod", 0, -1), WRITES("fchmodat", 0, 1), WRITES("fchmodat2", 0, 1),
    WRITES("utime", -1, 0), WRITES("utimes", -1, 0), WRITES("utimensat", 0, 1), WRITES("futimesat", 0, 1),
    WRITES("setxattr", -1, 0), WRITES("lsetxattr", -1, 0), WRITES("fsetxattr", 0, -1),
    WRITES("removexattr", -1, 0), WRITES("lremovexattr", -1, 0), WRITES("fremovexattr", 0, -1),
    /* For a directory that is there already, the answer is EEXIST, and what follows happens in it. */
    WRITES("mkdir", -1, 0), WRITES("mkdirat", 0, 1),
    RENAMES("rmdir", -1, 0), RENAMES("unlink", -1, 0), RENAMES("unlinkat", 0, 1),
    /* The target of a symbolic link is only a text, and may name anything. */
    RENAMES("symlink", -1, 1), RENAMES("symlinkat", 1, 2),
    RENAMES_TWO("rename", -1, 0, -1, 1), RENAMES_TWO("renameat", 0, 1, 2, 3), RENAMES_TWO("renameat2", 0, 1, 2, 3),
    RENAMES_TWO("link", -1, 0, -1, 1), RENAMES_TWO("linkat", 0, 1, 2, 3),
};

const learned_call *learned_call_of(const char *name) {
    for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
        if (strcmp(calls[index].name, name) == 0) return &calls[index];
    }
    return NULL;
}

int learned_path(const char *base, const char *name, char *path, size_t capacity) {
    const char *const texts[] = {name[0] == '/' ? "" : base, name};
    size_t length = 0, size;
    for (int index = 0; index < 2; index++) {
        for (const char *part = texts[index]; *part != 0; part += size) {
            part += strspn(part, "/");
            size = strcspn(part, "/");
            if (size == 0 || (size == 1 && part[0] == '.')) continue;
            if (size == 2 && part[0] == '.' && part[1] == '.') {
                while (length > 0 && path[--length] != '/') {}
                continue;
            }
            if (length + 1 + size >= capacity) return 0;
            path[length] = '/';
            memcpy(path + length + 1, part, size);
            length += 1 + size;
        }
    }
    if (length == 0) path[length++] = '/';
    path[length] = 0;
    return 1;
}

int learned_is_below(const char *path, const char *other) {
    size_t length = strlen(other);
    if (length > 0 && other[length - 1] == '/') length--;
    return strncmp(other, path, length) == 0 && (path[length] == 0 || path[length] == '/');
}

int learned_covers(const learned_paths *paths, const char *path) {
    for (int index = 0; index < paths->count; index++) {
        if (learned_is_below(path, paths->paths[index])) return 1;
    }
    return 0;
}

void learned_remove(learned_paths *paths, const char *path) {
    int kept = 0;
    for (int index = 0; index < paths->count; index++) {
        if (learned_is_below(paths->paths[index], path)) continue;
        if (kept != index) memcpy(paths->paths[kept], paths->paths[index], sizeof paths->paths[0]);
        kept++;
    }
    paths->count = kept;
}

/** The length of the path, or of the longest directory above it, that can be kept; 0 if none can. */
static size_t fitting(const char *path) {
    size_t length = 0;
    while (length + 1 < sizeof((learned_paths *)0)->paths[0] && (unsigned char)path[length] >= ' ' && path[length] != '"'
           && path[length] != '\\') {
        length++;
    }
    if (path[length] == 0) return length;
    while (length > 0 && path[length] != '/') length--;
    return length;
}

/**
 * Adds a path, and removes those below it. Returns 1 if it is new, 0 if it is already covered, -1 if there is no room. If a path is
 * too long, or cannot stand between quotation marks as it is, adds the nearest directory above it that can.
 */
static int add_path(learned_paths *paths, const char *path) {
    char added[sizeof paths->paths[0]];
    const size_t length = fitting(path);
    if (length == 0) return 0;
    memcpy(added, path, length);
    added[length] = 0;
    if (learned_covers(paths, added)) return 0;
    learned_remove(paths, added);
    if (paths->count == LEARNED_COUNT) return -1;
    memcpy(paths->paths[paths->count++], added, length + 1);
    return 1;
}

int learned_keep(learned *learned, const char *key, const char *path) {
    const int is_write = strcmp(key, "write") == 0;
    const int result = add_path(is_write ? &learned->write : &learned->read, path);
    if (result < 0) {
        learned_say(
            learned, is_write ? learned_write_full : learned_read_full,
            "no more than %d paths are learned under \"%s\": name a directory above them\n", LEARNED_COUNT, key
        );
    }
    /* What may be written may also be read. */
    if (result > 0 && is_write) learned_remove(&learned->read, path);
    return result > 0;
}

int learned_is_device(const char *path) {
    struct stat status;
    const int is_there = stat(path, &status) == 0;
    if (is_there && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))) return 1;
    if (is_there && S_ISDIR(status.st_mode)) return strcmp(path, "/dev") == 0;
    return strncmp(path, "/dev/", 5) == 0 && strchr(path + 5, '/') == NULL;
}

int learned_leave_proc(char *path) {
    char target[PATH_MAX];
    if (!learned_is_below(path, "/proc")) return 1;
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) return 1;
    memcpy(path, target, (size_t)length);
    path[length] = 0;
    return path[0] == '/';
}

static void print(int output, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t count = write(output, text, length);
        if (count <= 0) return;
        text += count;
        length -= (size_t)count;
    }
}

int learned_say(learned *learned, int32_t number, const char *format, ...) {
    char line[256] = LEARNED_PREFIX;
    va_list arguments;
    for (int index = 0; index < learned->said_count; index++) {
        if (learned->said[index] == number) return 0;
    }
    if (learned->said_count == LEARNED_SAID_COUNT) return 0;
    learned->said[learned->said_count++] = number;
    va_start(arguments, format);
    const size_t start = sizeof LEARNED_PREFIX - 1;
    const int count = vsnprintf(line + start, sizeof line - start, format, arguments);
    va_end(arguments);
    if (count > 0 && start + (size_t)count < sizeof line) print(learned->output, line, start + (size_t)count);
    return 0;
}

int learned_say_family(learned *learned, uint32_t family) {
    /* The numbers of Linux: this file is compiled for other systems, too. */
    static const char *const names[] = {
        [1] = "AF_UNIX", [17] = "AF_PACKET", [29] = "AF_CAN", [31] = "AF_BLUETOOTH", [38] = "AF_ALG", [40] = "AF_VSOCK",
    };
    const int is_named = family < sizeof names / sizeof *names && names[family] != NULL;
    /* There is no such family, with or without a sandbox. */
    if (family >= 64) return 0;
    const int32_t number = learned_family - (int32_t)family;
    if (is_named) return learned_say(learned, number, "no setting of the sandbox allows a socket of %s\n", names[family]);
    return learned_say(learned, number, "no setting of the sandbox allows a socket of the family %u\n", family);
}

/** A growing text, which is cut where there is no room. */
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

void learned_print(learned *learned) {
    text text = {learned->text, 0, sizeof learned->text};
    int has_more = 0;
    add(&text, LEARNED_PREFIX "\"sandbox\": {");
    add_paths(&text, "read", &learned->read, &has_more);
    add_paths(&text, "write", &learned->write, &has_more);
    if (learned->network) add(&text, "%s\"network\": true", has_more ? ", " : "");
    add(&text, "}\n");
    print(learned->output, text.bytes, text.length);
}
