/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * note.h: text in a fixed buffer, composed by async-signal-safe means.
 */
#ifndef FATAL_SIGNAL_NOTE_H
#define FATAL_SIGNAL_NOTE_H

#include <fatal_signal.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/** A text; what does not fit is left out. */
typedef struct note {
    size_t length;
    char text[FATAL_SIGNAL_NOTE_SIZE];
} note;

static inline void note_text(note *note, const char *text) {
    while (*text != 0 && note->length < sizeof note->text) note->text[note->length++] = *text++;
}

/** Appends a comma-separated list, up to as many whole elements as fit into `limit` bytes. */
static inline void note_list(note *note, const char *list, size_t limit) {
    size_t length = 0;
    for (size_t index = 0; index <= limit; index++) {
        if (list[index] == ',' || list[index] == 0) length = index;
        if (list[index] == 0) break;
    }
    for (size_t index = 0; index < length && note->length < sizeof note->text; index++) note->text[note->length++] = list[index];
}

static inline void note_number(note *note, uint64_t number, unsigned base) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    while (count > 0 && note->length < sizeof note->text) note->text[note->length++] = digits[--count];
}

static inline void note_write(const note *note, int descriptor) {
    size_t done = 0;
    while (done < note->length) {
        ssize_t count = write(descriptor, note->text + done, note->length - done);
        if (count > 0) {
            done += (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            return;
        }
    }
}

#endif
