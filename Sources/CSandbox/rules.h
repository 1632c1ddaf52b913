/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * rules.h: what the table of system calls consists of.
 */
#ifndef SANDBOX_RULES_H
#define SANDBOX_RULES_H

#include <stdint.h>

/* When a call is allowed: a set of these says what holds. */
#define SANDBOX_NEVER 0
#define SANDBOX_ALWAYS 1
/** Until the plugin is open. */
#define SANDBOX_LOADING 2
/** Its settings name files that it may write. */
#define SANDBOX_WRITING 4
/** Its settings let it reach others. */
#define SANDBOX_NETWORK 8

/** A condition on one argument: it is one of the values, or none of them, of the bits in the mask. */
typedef struct sandbox_check {
    /** From 0. */
    uint8_t argument;
    /** Whether all 64 bits count, and not the lower 32 alone. */
    uint8_t is_wide;
    /** Whether the values are those that are refused; then or_process does not count. */
    uint8_t is_refused;
    /** Whether the number of this process is one of the values. */
    uint8_t or_process;
    /** What allows every value. */
    uint8_t lifted_by;
    /** 0 for all. */
    uint32_t mask;
    uint32_t count;
    uint32_t values[16];
} sandbox_check;

/** One system call. */
typedef struct sandbox_rule {
    const char *name;
    /** On x86_64 and on arm64; -1 where there is none. */
    int16_t number[2];
    uint8_t when;
    /** The errno otherwise. */
    uint8_t refusal;
    const sandbox_check *check, *also;
    /** Why it may be refused; null if it never is. */
    const char *reason;
} sandbox_rule;

extern const sandbox_rule sandbox_rules[];
extern const int32_t sandbox_rule_count;

/** The rule of a call of this process's architecture, or null. */
const sandbox_rule *sandbox_rule_of(int32_t number);

#endif
