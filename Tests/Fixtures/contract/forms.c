/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * forms: one operation of every form that typed clients in Swift have a ready-made C type for, and some that have none.
 *
 * What a function answers tells the places of its parameters apart: a decimal place for each number, brackets for each text.
 */
#include "../fixture.h"
#include <stdio.h>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "forms",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Has an operation of every form.",
    "configuration": {
        "complaint": {"type": "string"},
        "key": {"type": "string", "secret": true}
    },
    "capabilities": {
        "forms/1": {
            "numbers1": {"symbol": "forms_numbers1", "signature": "(a: f64) -> f64"},
            "numbers2": {"symbol": "forms_numbers2", "signature": "(a: f64, b: f64) -> f64"},
            "numbers3": {"symbol": "forms_numbers3", "signature": "(a: f64, b: f64, c: f64) -> f64"},
            "integers1": {"symbol": "forms_integers1", "signature": "(a: i64) -> i64"},
            "integers2": {"symbol": "forms_integers2", "signature": "(a: i64, b: i64) -> i64"},
            "integers3": {"symbol": "forms_integers3", "signature": "(a: i64, b: i64, c: i64) -> i64"},
            "texts1": {"symbol": "forms_texts1", "signature": "(a: string) async -> json"},
            "texts2": {"symbol": "forms_texts2", "signature": "(a: string, b: bytes?) async -> string"},
            "texts3": {"symbol": "forms_texts3", "signature": "(a: string, b: json, c: string?) async -> string"},
            "silent": {"symbol": "forms_silent", "signature": "(a: string) async"},
            "mixed": {"symbol": "forms_mixed", "signature": "(a: f64, b: i64) -> f64"},
            "optional": {"symbol": "forms_optional", "signature": "(a: f64?) -> f64"},
            "unsigned": {"symbol": "forms_unsigned", "signature": "(a: u64) -> u64"},
            "pair": {"symbol": "forms_pair", "signature": "(a: f64) -> (b: f64, c: f64)"},
            "immediate": {"symbol": "forms_immediate", "signature": "(a: string) -> string"},
            "numbered": {"symbol": "forms_numbered", "signature": "(a: string, b: i64) async -> json"},
            "calls": {"symbol": "forms_calls", "signature": "() -> i64"},
            "fail": {"symbol": "forms_fail", "signature": "(a: f64) -> f64"},
            "failLater": {"symbol": "forms_fail_later", "signature": "(a: string) async -> json"}
        }
    }
});

/** How many texts reached an operation of this image. */
static int64_t text_calls;

FIXTURE_PLUGIN(fixture_open)

CONNECTOR_EXPORT int32_t forms_numbers1(void *instance, double a, double *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = a;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t forms_numbers2(void *instance, double a, double b, double *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = a + 10 * b;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t forms_numbers3(void *instance, double a, double b, double c, double *result,
                                        connector_error *error) {
    (void)instance;
    (void)error;
    *result = a + 10 * b + 100 * c;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t forms_integers1(void *instance, int64_t a, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = a;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t forms_integers2(void *instance, int64_t a, int64_t b, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = a + 10 * b;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t forms_integers3(void *instance, int64_t a, int64_t b, int64_t c, int64_t *result,
                                         connector_error *error) {
    (void)instance;
    (void)error;
    *result = a + 10 * b + 100 * c;
    return CONNECTOR_OK;
}

/** Adds a text in brackets; null, and nothing else, is a hyphen. */
static void add(char *answer, size_t size, const char *text, uint64_t length) {
    size_t used = strlen(answer);
    if (text == NULL)
        snprintf(answer + used, size - used, "-");
    else
        snprintf(answer + used, size - used, "[%.*s]", (int)length, text);
}

static int32_t complete(void *instance, const connector_call *call, const char *answer) {
    const fixture *self = instance;
    __atomic_add_fetch(&text_calls, 1, __ATOMIC_SEQ_CST);
    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, (const uint8_t *)answer,
                                strlen(answer), NULL);
}

/** Answers a JSON string of the text, in which nothing may need an escape. */
CONNECTOR_EXPORT int32_t forms_texts1(void *instance, const connector_call *call, const char *a, uint64_t a_length,
                                      connector_error *error) {
    char answer[256] = "\"";
    (void)error;
    add(answer, sizeof answer - 1, a, a_length);
    return complete(instance, call, strcat(answer, "\""));
}

CONNECTOR_EXPORT int32_t forms_texts2(void *instance, const connector_call *call, const char *a, uint64_t a_length,
                                      const char *b, uint64_t b_length, connector_error *error) {
    char answer[256] = "";
    (void)error;
    add(answer, sizeof answer, a, a_length);
    add(answer, sizeof answer, b, b_length);
    return complete(instance, call, answer);
}

CONNECTOR_EXPORT int32_t forms_texts3(void *instance, const connector_call *call, const char *a, uint64_t a_length,
                                      const char *b, uint64_t b_length, const char *c, uint64_t c_length,
                                      connector_error *error) {
    char answer[256] = "";
    (void)error;
    add(answer, sizeof answer, a, a_length);
    add(answer, sizeof answer, b, b_length);
    add(answer, sizeof answer, c, c_length);
    return complete(instance, call, answer);
}

CONNECTOR_EXPORT int32_t forms_silent(void *instance, const connector_call *call, const char *a, uint64_t a_length,
                                      connector_error *error) {
    (void)a;
    (void)a_length;
    (void)error;
    return complete(instance, call, "");
}

/** A function that is never called, because typed clients in Swift have no ready-made C type for it. */
#define UNTYPED(name) \
    CONNECTOR_EXPORT int32_t forms_##name(void) { return CONNECTOR_UNSUPPORTED; }

UNTYPED(mixed)
UNTYPED(optional)
UNTYPED(unsigned)
UNTYPED(pair)
UNTYPED(immediate)
UNTYPED(numbered)

CONNECTOR_EXPORT int32_t forms_calls(void *instance, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = __atomic_load_n(&text_calls, __ATOMIC_SEQ_CST);
    return CONNECTOR_OK;
}

/** Complains in the words of the configuration, the field "complaint" and all others. */
static int32_t complain(const fixture *self, connector_error *error) {
    return fixture_fail(error, CONNECTOR_INVALID, self->config);
}

CONNECTOR_EXPORT int32_t forms_fail(void *instance, double a, double *result, connector_error *error) {
    (void)a;
    (void)result;
    return complain(instance, error);
}

CONNECTOR_EXPORT int32_t forms_fail_later(void *instance, const connector_call *call, const char *a, uint64_t a_length,
                                          connector_error *error) {
    connector_error failure = {0};
    const fixture *self = instance;
    (void)a;
    (void)a_length;
    (void)error;
    failure.struct_size = sizeof failure;
    complain(self, &failure);
    self->host->complete(self->host->context, call->operation, failure.code, NULL, 0, &failure);
    return CONNECTOR_OK;
}
