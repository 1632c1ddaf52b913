/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * calls.h: a plugin that does what a test tells it to, call by call: it keeps or breaks the rules of the call contract.
 *
 * Calls that are left pending stand in one list for all gates of the image, by the names that tests give them, so that one
 * gate can complete, or try to complete, what another one has pending.
 *
 *   calls/gate.h      one gate: its state, its settings
 *   calls/pending.h   the list
 *   calls/life.h      create, open, probe, close, destroy, cancel: the field "opens", "closes" and so on
 *   calls/taking.h    begin, answer, refuse, both, overflow
 *   calls/ending.h    finish, finishAsOwner, fail, invent, progress, counts, lives, probes
 */
#ifndef CONTRACT_CALLS_H
#define CONTRACT_CALLS_H

#include "calls/ending.h"
#include "calls/life.h"
#include "calls/taking.h"

/** The operations and fields, for the manifests. */
#define CALLS_MANIFEST(id_text, thread_text)                                                                           \
    CONNECTOR_MANIFEST({                                                                                               \
        "manifest": 1,                                                                                                 \
        "id": id_text,                                                                                                 \
        "version": "1.0.0",                                                                                            \
        "abi": [1, 1],                                                                                                 \
        "entry": "calls_entry",                                                                                        \
        "documentation": "Does what a test tells it to.",                                                              \
        "thread": thread_text,                                                                                         \
        "capabilities": {                                                                                              \
            "calls/1": {                                                                                               \
                "begin": {"symbol": "calls_begin", "signature": "(name: string) async -> json"},                       \
                "answer": {"symbol": "calls_answer", "signature": "(value: json) async -> json"},                      \
                "read": {"symbol": "calls_answer", "signature": "(value: json) async -> json", "safe": true},          \
                "refuse": {"symbol": "calls_refuse", "signature": "(status: i32) async"},                              \
                "both": {"symbol": "calls_both", "signature": "() async -> json"},                                     \
                "finish": {"symbol": "calls_finish", "signature": "(name: string, value: json) -> i32"},               \
                "finishAsOwner": {                                                                                     \
                    "symbol": "calls_finish_as_owner",                                                                 \
                    "signature": "(name: string, value: json) -> i32"                                                  \
                },                                                                                                     \
                "fail": {"symbol": "calls_fail", "signature": "(name: string, status: i32) -> i32"},                   \
                "invent": {"symbol": "calls_invent", "signature": "(operation: u64) -> i32"},                          \
                "overflow": {"symbol": "calls_overflow", "signature": "(length: u64) async -> json"},                  \
                "progress": {"symbol": "calls_progress", "signature": "(name: string, text: string) -> i32"},          \
                "counts": {                                                                                            \
                    "symbol": "calls_counts",                                                                          \
                    "signature": "(cancels: out u64, running: out u64, most: out u64)"                                 \
                },                                                                                                     \
                "lives": {                                                                                             \
                    "symbol": "calls_lives",                                                                           \
                    "signature": "(name: string, created: out u64, closed: out u64, destroyed: out u64)"               \
                },                                                                                                     \
                "probes": {"symbol": "calls_probes", "signature": "(name: string, status: i32)"}                       \
            }                                                                                                          \
        },                                                                                                             \
        "configuration": {                                                                                             \
            "name": {"type": "string"},                                                                                \
            "opens": {"type": "string"},                                                                               \
            "closes": {"type": "string"},                                                                              \
            "evidence": {"type": "string"},                                                                            \
            "replies": {"type": "string"},                                                                             \
            "fails": {"type": "string"},                                                                               \
            "key": {"type": "string", "secret": true}                                                                  \
        }                                                                                                              \
    })

#endif
