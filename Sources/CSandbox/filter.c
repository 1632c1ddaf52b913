/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Turns the table into a program for the kernel: seccomp(2), and Documentation/userspace-api/seccomp_filter.rst.
 */
#define _GNU_SOURCE

#include <sandbox.h>

#ifdef __linux__
#include "filter.h"
#include "learning.h"
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

/* Since Linux 5.0; headers may be older. */
#define RETURN_ASK 0x7fc00000u
/* Since Linux 5.19: a call that somebody has received is not interrupted by signals, and so not asked about twice. */
#define FLAG_WAIT_KILLABLE (1u << 5)
#define X32_BIT 0x40000000u

/** More than the highest call number in the table. */
#define NUMBER_COUNT 512

/** A program being written. */
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

static uint32_t refusal(const sandbox_filter *filter, uint32_t error) {
    const int is_asked = filter->asks == SANDBOX_ASKS_ALL || (filter->asks == SANDBOX_ASKS_REFUSED && error != ENOSYS);
    return is_asked ? RETURN_ASK : SECCOMP_RET_ERRNO | error;
}

static void refuse(writer *writer, uint32_t error) { give(writer, refusal(writer->filter, error)); }

/** Falls through if the condition holds, and refuses otherwise. Both architectures store the lower half first. */
static void check(writer *writer, const sandbox_check *check, uint8_t error) {
    const size_t lower = offsetof(struct seccomp_data, args) + 8 * (size_t)check->argument;
    if (check->is_wide) {
        load(writer, lower + 4);
        put(writer, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        refuse(writer, error);
    }
    load(writer, lower);
    if (check->mask != 0) put(writer, BPF_ALU | BPF_AND | BPF_K, check->mask, 0, 0);
    if (check->is_refused) {
        /* Each value jumps over those that follow, and over the jump past the refusal. */
        for (uint32_t index = 0; index < check->count; index++) {
            put(writer, BPF_JMP | BPF_JEQ | BPF_K, check->values[index], (uint8_t)(check->count - index), 0);
        }
        put(writer, BPF_JMP | BPF_JA, 1, 0, 0);
        return refuse(writer, error);
    }
    /* Each value jumps over those that follow, and over the refusal. */
    uint32_t left = check->count + check->or_process;
    for (uint32_t index = 0; index < check->count; index++, left--) {
        put(writer, BPF_JMP | BPF_JEQ | BPF_K, check->values[index], (uint8_t)left, 0);
    }
    if (check->or_process) put(writer, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)writer->filter->process, (uint8_t)left, 0);
    refuse(writer, error);
}

/** The set of conditions that hold. */
static uint8_t holding(const sandbox_filter *filter) {
    uint8_t set = SANDBOX_ALWAYS;
    if (!filter->is_narrow) set |= SANDBOX_LOADING;
    if (filter->writes) set |= SANDBOX_WRITING;
    if (filter->network) set |= SANDBOX_NETWORK;
    if (filter->names) set |= SANDBOX_NAMING;
    return set;
}

static int decides(const sandbox_check *check, uint8_t set) { return check != NULL && (check->lifted_by & set) == 0; }

/** The verdict on a call whatever its arguments; 0 if they decide. */
static uint32_t verdict(const sandbox_filter *filter, const sandbox_rule *rule, uint8_t set) {
    /* The broad filter asks, and an errno of this one would take precedence: it adds only what belongs to loading. */
    if (filter->is_narrow && filter->asks == SANDBOX_ASKS_REFUSED) {
        return rule != NULL && rule->when == SANDBOX_LOADING ? SECCOMP_RET_ERRNO | rule->refusal : SECCOMP_RET_ALLOW;
    }
    if (rule == NULL) return refusal(filter, ENOSYS);
    /* Whoever learns also wants to know which files are read. */
    const int names_files = filter->asks == SANDBOX_ASKS_ALL && learned_call_of(rule->name) != NULL;
    if ((rule->when & set) == 0 || names_files) return refusal(filter, rule->refusal);
    return decides(rule->check, set) || decides(rule->also, set) ? 0 : SECCOMP_RET_ALLOW;
}

static void write_rule(writer *writer, const sandbox_rule *rule, uint8_t set) {
    if (decides(rule->check, set)) check(writer, rule->check, rule->refusal);
    if (decides(rule->also, set)) check(writer, rule->also, rule->refusal);
    allow(writer);
}

/** Consecutive calls with the same verdict: from a number up to that of the next span. */
typedef struct span {
    uint32_t first;
    /** 0 if the arguments of its single call decide. */
    uint32_t verdict;
    const sandbox_rule *rule;
} span;

/** Lists the verdicts on all numbers, in ascending order. Returns how many spans there are. */
static int32_t list_spans(const sandbox_filter *filter, span *spans) {
    const sandbox_rule *rules[NUMBER_COUNT] = {NULL};
    for (int32_t index = 0; index < sandbox_rule_count; index++) {
        const int16_t number = sandbox_rules[index].number[filter->architecture];
        if (number >= 0 && number < NUMBER_COUNT) rules[number] = &sandbox_rules[index];
    }
    int32_t count = 0;
    for (uint32_t number = 0; number < NUMBER_COUNT; number++) {
        const uint32_t said = verdict(filter, rules[number], holding(filter));
        if (count > 0 && said != 0 && said == spans[count - 1].verdict) continue;
        spans[count++] = (span){number, said, rules[number]};
    }
    return count;
}

/**
 * Finds the span of a number by bisection: each call passes a dozen instructions where a list would have hundreds. The kernel also
 * goes through the program for every number when it is installed.
 */
static void write_spans(writer *writer, const span *spans, int32_t count) {
    if (count == 1) {
        if (spans->verdict != 0) return give(writer, spans->verdict);
        return write_rule(writer, spans->rule, holding(writer->filter));
    }
    const int32_t half = count / 2, start = writer->count;
    put(writer, BPF_JMP | BPF_JGE | BPF_K, spans[half].first, 0, 1);
    /* A conditional jump reaches no further than 255 instructions; this one's length is set once it is known. */
    put(writer, BPF_JMP | BPF_JA, 0, 0, 0);
    write_spans(writer, spans, half);
    if (start + 1 < writer->capacity) writer->program[start + 1].operand = (uint32_t)(writer->count - start - 2);
    write_spans(writer, spans + half, count - half);
}

int32_t sandbox_program(const sandbox_filter *filter, sandbox_instruction *program, int32_t capacity) {
    writer writer = {filter, program, 0, capacity};
    const int is_arm = filter->architecture == SANDBOX_ARM64;
    span spans[NUMBER_COUNT];
    /* On another architecture, the numbers mean something else. Nothing that is compiled for this one gets here. */
    load(&writer, offsetof(struct seccomp_data, arch));
    put(&writer, BPF_JMP | BPF_JEQ | BPF_K, is_arm ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64, 1, 0);
    give(&writer, SECCOMP_RET_KILL_PROCESS);
    load(&writer, offsetof(struct seccomp_data, nr));
    /* The calls of x32. */
    if (!is_arm) {
        put(&writer, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
        give(&writer, SECCOMP_RET_ERRNO | ENOSYS);
    }
    write_spans(&writer, spans, list_spans(filter, spans));
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

/** Installs a filter. Returns what the kernel returns, or -errno. */
static long install(const sandbox_settings *settings, int is_narrow, uint32_t asks, unsigned flags) {
    const uint32_t writes = settings->write != NULL && settings->write[0] != NULL;
    const sandbox_filter filter = {
        .architecture = own_architecture,
        .process = (int32_t)getpid(),
        .is_narrow = is_narrow != 0,
        .network = settings->network,
        .writes = writes,
        .names = writes || (settings->read != NULL && settings->read[0] != NULL),
        .asks = asks,
    };
    sandbox_instruction program[SANDBOX_INSTRUCTION_COUNT];
    if (own_architecture < 0) return -ENOTSUP;
    const int32_t count = sandbox_program(&filter, program, SANDBOX_INSTRUCTION_COUNT);
    if (count == 0) return -E2BIG;
    struct sock_fprog list = {.len = (unsigned short)count, .filter = (struct sock_filter *)program};
    const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &list);
    return result < 0 ? -errno : result;
}

int sandbox_filter_install(const sandbox_settings *settings, int is_narrow, uint32_t asks) {
    /* If a thread has a different filter, the kernel returns its id instead of 0. */
    const long result = install(settings, is_narrow, asks, SECCOMP_FILTER_FLAG_TSYNC);
    return result > 0 ? EBUSY : (int)-result;
}

int sandbox_filter_ask(const sandbox_settings *settings, uint32_t asks) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    const long listener = install(settings, 0, asks, SECCOMP_FILTER_FLAG_NEW_LISTENER | FLAG_WAIT_KILLABLE);
    return (int)(listener == -EINVAL ? install(settings, 0, asks, SECCOMP_FILTER_FLAG_NEW_LISTENER) : listener);
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
