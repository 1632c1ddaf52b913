/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * rules.h: the table of system calls.
 */
#ifndef SANDBOX_RULES_H
#define SANDBOX_RULES_H

#include <stdint.h>

/* When a call is allowed: a set of these names the conditions of which one must hold. */
#define SANDBOX_NEVER 0
#define SANDBOX_ALWAYS 1
/** Until the plugin is open. */
#define SANDBOX_LOADING 2
/** If the settings name files that the plugin may write. */
#define SANDBOX_WRITING 4
/** If the settings let the plugin reach others. */
#define SANDBOX_NETWORK 8
/** If the settings name files that the plugin may read or write. */
#define SANDBOX_NAMING 16

/** The flags of open(2) that write: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC and O_TMPFILE. */
#define SANDBOX_WRITE_FLAGS 0x400243u

/** A condition on one argument: the bits in the mask equal one of the values, or none of them. */
typedef struct sandbox_check {
    /** Counted from 0. */
    uint8_t argument;
    /** Whether all 64 bits count, instead of only the lower 32. */
    uint8_t is_wide;
    /** Whether the values are the refused ones; then or_process does not count. */
    uint8_t is_refused;
    /** Whether this process's number is one of the values. */
    uint8_t or_process;
    /** The conditions that allow every value. */
    uint8_t lifted_by;
    /** 0 for all bits. */
    uint32_t mask;
    uint32_t count;
    uint32_t values[16];
} sandbox_check;

/** One system call. */
typedef struct sandbox_rule {
    const char *name;
    /** On x86_64 and on arm64; -1 where the call does not exist. */
    int16_t number[2];
    uint8_t when;
    /** The errno if the call is refused. */
    uint8_t refusal;
    const sandbox_check *check, *also;
    /** Why it may be refused; null if it never is. */
    const char *reason;
} sandbox_rule;

extern const sandbox_rule sandbox_rules[];
extern const int32_t sandbox_rule_count;

/** The rule for a call of this process's architecture, or null. */
const sandbox_rule *sandbox_rule_of(int32_t number);

#endif
