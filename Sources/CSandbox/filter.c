/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the table to a program for the kernel: seccomp(2), and Documentation/userspace-api/seccomp_filter.rst.
 */
#define _GNU_SOURCE

#include <sandbox.h>

#ifdef __linux__
#include "filter.h"
#include "rules.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(sandbox_instruction) == sizeof(struct sock_filter), "one of them is another's copy");

/* Since 5.0; headers may be older. */
#define RETURN_ASK 0x7fc00000u
#define X32_BIT 0x40000000u

/** A program while it is written. */
typedef struct writer {
    const sandbox_filter *filter;
    sandbox_instruction *program;
    int32_t count, capacity;
} writer;

static void put(writer *writer, uint16_t code, uint32_t operand, uint8_t if_true, uint8_t if_false) {
    if (writer->count < writer->capacity) {
        writer->program[writer->count] = (sandbox_instruction){code, if_true, if_false, operand};
    }
    writer->count++;
}

static void load(writer *writer, size_t offset) { put(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void give(writer *writer, uint32_t verdict) { put(writer, BPF_RET | BPF_K, verdict, 0, 0); }
static void allow(writer *writer) { give(writer, SECCOMP_RET_ALLOW); }

static void refuse(writer *writer, uint32_t error) {
    give(writer, writer->filter->asks ? RETURN_ASK : SECCOMP_RET_ERRNO | error);
}

/** Goes on behind what it writes if the condition holds, and refuses otherwise. Both machines store the lower half first. */
static void check(writer *writer, const sandbox_check *check, uint8_t error) {
    const size_t lower = offsetof(struct seccomp_data, args) + 8 * (size_t)check->argument;
    if (check->is_wide) {
        load(writer, lower + 4);
        put(writer, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        refuse(writer, error);
    }
    load(writer, lower);
    if (check->mask != 0) put(writer, BPF_ALU | BPF_AND | BPF_K, check->mask, 0, 0);
    /* Each value jumps over those that follow, and over the refusal. */
    uint32_t left = check->count + check->or_process;
    for (uint32_t index = 0; index < check->count; index++, left--) {
        put(writer, BPF_JMP | BPF_JEQ | BPF_K, check->values[index], (uint8_t)left, 0);
    }
    if (check->or_process) put(writer, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)writer->filter->process, (uint8_t)left, 0);
    refuse(writer, error);
}

/** The set of what holds. */
static uint8_t holding(const sandbox_filter *filter) {
    uint8_t set = SANDBOX_ALWAYS;
    if (!filter->is_narrow) set |= SANDBOX_LOADING;
    if (filter->writes) set |= SANDBOX_WRITING;
    if (filter->network) set |= SANDBOX_NETWORK;
    return set;
}

static void write_rule(writer *writer, const sandbox_rule *rule, uint8_t set) {
    /* The jump over the rule is set once its length is known. */
    const int32_t start = writer->count;
    put(writer, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->number[writer->filter->architecture], 0, 0);
    /* Whoever asks wants to know which files are read, too. */
    const int is_open = rule->check != NULL && rule->check->lifted_by == SANDBOX_WRITING;
    if ((rule->when & set) == 0 || (writer->filter->asks && is_open)) {
        refuse(writer, rule->refusal);
    } else {
        const sandbox_check *checks[2] = {rule->check, rule->also};
        for (int index = 0; index < 2; index++) {
            if (checks[index] == NULL || (checks[index]->lifted_by & set) != 0) continue;
            check(writer, checks[index], rule->refusal);
        }
        allow(writer);
    }
    if (start < writer->capacity) writer->program[start].if_false = (uint8_t)(writer->count - start - 1);
}

int32_t sandbox_program(const sandbox_filter *filter, sandbox_instruction *program, int32_t capacity) {
    writer writer = {filter, program, 0, capacity};
    const int is_arm = filter->architecture == SANDBOX_ARM64;
    int32_t highest = 0;
    for (int32_t index = 0; index < sandbox_rule_count; index++) {
        const int16_t number = sandbox_rules[index].number[filter->architecture];
        if (number > highest) highest = number;
    }
    /* Numbers mean something else on another architecture. Nothing that is compiled for this one comes here. */
    load(&writer, offsetof(struct seccomp_data, arch));
    put(&writer, BPF_JMP | BPF_JEQ | BPF_K, is_arm ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64, 1, 0);
    give(&writer, SECCOMP_RET_KILL_PROCESS);
    load(&writer, offsetof(struct seccomp_data, nr));
    /* Calls of x32, and those that are newer than the table. */
    if (!is_arm) {
        put(&writer, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
        give(&writer, SECCOMP_RET_ERRNO | ENOSYS);
    }
    put(&writer, BPF_JMP | BPF_JGT | BPF_K, (uint32_t)highest, 0, 1);
    refuse(&writer, ENOSYS);
    for (int32_t index = 0; index < sandbox_rule_count; index++) {
        if (sandbox_rules[index].number[filter->architecture] < 0) continue;
        write_rule(&writer, &sandbox_rules[index], holding(filter));
    }
    refuse(&writer, ENOSYS);
    return writer.count <= capacity ? writer.count : 0;
}

const char *sandbox_call_name(int32_t architecture, int32_t number) {
    for (int32_t index = 0; index < sandbox_rule_count; index++) {
        if (number >= 0 && sandbox_rules[index].number[architecture] == number) return sandbox_rules[index].name;
    }
    return NULL;
}

#if defined(__x86_64__)
static const int32_t own_architecture = SANDBOX_X86_64;
#elif defined(__aarch64__)
static const int32_t own_architecture = SANDBOX_ARM64;
#else
static const int32_t own_architecture = -1;
#endif

const sandbox_rule *sandbox_rule_of(int32_t number) {
    for (int32_t index = 0; index < sandbox_rule_count && own_architecture >= 0; index++) {
        if (number >= 0 && sandbox_rules[index].number[own_architecture] == number) return &sandbox_rules[index];
    }
    return NULL;
}

/** Puts a filter on. Returns what the kernel returns, or -errno. */
static long install(const sandbox_settings *settings, int is_narrow, int asks, unsigned flags) {
    const sandbox_filter filter = {
        .architecture = own_architecture,
        .process = (int32_t)getpid(),
        .is_narrow = is_narrow != 0,
        .network = settings->network,
        .writes = settings->write != NULL && settings->write[0] != NULL,
        .asks = asks != 0,
    };
    sandbox_instruction program[SANDBOX_INSTRUCTION_COUNT];
    if (own_architecture < 0) return -ENOTSUP;
    const int32_t count = sandbox_program(&filter, program, SANDBOX_INSTRUCTION_COUNT);
    if (count == 0) return -E2BIG;
    struct sock_fprog list = {.len = (unsigned short)count, .filter = (struct sock_filter *)program};
    const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &list);
    return result < 0 ? -errno : result;
}

int sandbox_filter_install(const sandbox_settings *settings, int is_narrow) {
    /* A thread that has another filter than this one gives its number instead of 0. */
    const long result = install(settings, is_narrow, 0, SECCOMP_FILTER_FLAG_TSYNC);
    return result > 0 ? EBUSY : (int)-result;
}

int sandbox_filter_ask(const sandbox_settings *settings) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    return (int)install(settings, 0, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}
#else
int32_t sandbox_program(const sandbox_filter *filter, sandbox_instruction *program, int32_t capacity) {
    (void)filter, (void)program, (void)capacity;
    return 0;
}

const char *sandbox_call_name(int32_t architecture, int32_t number) {
    (void)architecture, (void)number;
    return NULL;
}
#endif
