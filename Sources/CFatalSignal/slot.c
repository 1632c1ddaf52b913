/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "slot.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char slot_path[4096];
/** Memory that replaces the file; null for none. */
static char *slot_memory;

/** Makes the directories above the file. */
static void make_directories(void) {
    for (char *end = slot_path + 1; *end != 0; end++) {
        if (*end != '/') continue;
        *end = 0;
        mkdir(slot_path, 0700);
        *end = '/';
    }
}

#if defined(__linux__) && defined(O_TMPFILE)
/**
 * The file without a name, its pages, and its identity: a plugin may close the descriptor, and its number may be reused for
 * another file.
 */
static int file = -1;
static char *pages;
static struct stat identity;
/** The file's name below /proc. */
static note name;

static void release(void) {
    struct stat now;
    if (pages != NULL) munmap(pages, sizeof ((note *)0)->text);
    if (file >= 0 && fstat(file, &now) == 0 && now.st_dev == identity.st_dev && now.st_ino == identity.st_ino) close(file);
    pages = NULL;
    file = -1;
}

static void reserve(void) {
    char *slash = strrchr(slot_path, '/');
    const size_t size = sizeof ((note *)0)->text;
    if (slash == NULL || slash == slot_path) return;
    make_directories();
    *slash = 0;
    int made = open(slot_path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *slash = '/';
    if (made < 0) return;
    void *mapped = MAP_FAILED;
    if (posix_fallocate(made, 0, (off_t)size) == 0 && fstat(made, &identity) == 0) {
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    }
    if (mapped == MAP_FAILED) {
        close(made);
        return;
    }
    name.length = 0;
    note_text(&name, "/proc/self/fd/");
    note_number(&name, (uint64_t)made, 10);
    name.text[name.length] = 0;
    file = made;
    pages = mapped;
}

/** Puts the note into the prepared file, and gives that its path. Returns whether both succeeded. */
static int publish(const note *note) {
    struct stat now;
    if (pages == NULL) return 0;
    memcpy(pages, note->text, note->length);
    pages = NULL;
    if (fstat(file, &now) != 0 || now.st_dev != identity.st_dev || now.st_ino != identity.st_ino) return 0;
    if (ftruncate(file, (off_t)note->length) != 0) return 0;
    unlink(slot_path);
    return linkat(AT_FDCWD, name.text, AT_FDCWD, slot_path, AT_SYMLINK_FOLLOW) == 0;
}
#else
static void release(void) {}
static void reserve(void) {}
static int publish(const note *note) {
    (void)note;
    return 0;
}
#endif

void slot_prepare(const char *path) {
    if (path != NULL && strcmp(path, slot_path) == 0) return;
    release();
    slot_path[0] = 0;
    if (path == NULL || strlen(path) >= sizeof slot_path) return;
    strcpy(slot_path, path);
    reserve();
}

void slot_prepare_memory(char *memory) { slot_memory = memory; }

int slot_is_memory(void) { return slot_memory != NULL; }

void slot_write(const note *note) {
    if (slot_memory != NULL) {
        memcpy(slot_memory, note->text, note->length);
        /* An earlier note may have been longer: a process may survive a signal. */
        if (note->length < sizeof note->text) slot_memory[note->length] = 0;
        return;
    }
    if (slot_path[0] == 0 || publish(note)) return;
    make_directories();
    /* A file for this user alone; never through a link. */
    int made = open(slot_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (made < 0) return;
    note_write(note, made);
    close(made);
}
