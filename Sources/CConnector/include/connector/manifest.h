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
