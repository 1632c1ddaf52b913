/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * manifest.h: how a plugin carries its manifest, so that it can be read without running the plugin.
 *
 * The manifest is UTF-8 JSON in an ELF note (name "connector", type 1, section ".note.connector"; elf(5), "Notes").
 * On Apple platforms it is the plain text in the section "__DATA,__connector".
 *
 * A library without the note is described by a sidecar: the same JSON in the file NAME.connector.json beside libNAME.so. If
 * there are both, they must say the same.
 *
 * A plugin need not have every operation of a standard capability. "analytics/1": {} stands for all of them,
 * ["track", "flush"] for these, {"except": ["alias"]} for all others. An operation that the manifest leaves out is
 * `unsupported` for its callers.
 *
 * In the configuration that `create` gets, a field of the type "duration" is the text of the file, such as "250ms", "5s" or
 * "2m": a whole number and ms, s, m or h. A "url" is text, too.
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
#else
#define CONNECTOR_MANIFEST_TEXT(text)                                                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverlength-strings\"")                          \
    __attribute__((used, section(CONNECTOR_NOTE_SECTION), aligned(4))) static const struct {                           \
        uint32_t name_size;                                                                                            \
        uint32_t text_size;                                                                                            \
        uint32_t type;                                                                                                 \
        char name[12];                                                                                                 \
        char text_and_padding[(sizeof(text) + 3u) & ~3u];                                                              \
    } connector_manifest_note = {sizeof(CONNECTOR_NOTE_NAME), sizeof(text) - 1, CONNECTOR_NOTE_TYPE,                   \
                                 CONNECTOR_NOTE_NAME, text};                                                           \
    _Pragma("GCC diagnostic pop")                                                                                      \
    struct connector_manifest_note_end
#endif

#endif
