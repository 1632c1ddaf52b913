/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * values: takes and answers values of every type, valid and invalid ones. It has no probe: its evidence is never stale.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "values",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "values_entry",
    "documentation": "Takes and answers values of every type.",
    "capabilities": {
        "values/1": {
            "numbers": {
                "symbol": "values_numbers",
                "signature": "(a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64, i: f32, j: f64) -> (a2: i8, b2: i16, c2: i32, d2: i64, e2: u8, f2: u16, g2: u32, h2: u64, i2: f32, j2: f64)"
            },
            "maybe": {"symbol": "values_maybe", "signature": "(a: i16?, b: f64?, c: string?, d: handle?) -> string"},
            "count": {"symbol": "values_count", "signature": "(text: string) -> u64"},
            "cut": {"symbol": "values_cut", "signature": "(text: cstring) -> u64"},
            "sum": {"symbol": "values_sum", "signature": "(data: bytes32) -> u32"},
            "reverse": {"symbol": "values_reverse", "signature": "(data: bytes) -> bytes"},
            "pair": {"symbol": "values_pair", "signature": "(data: json) -> (first: json, second: string)"},
            "fill": {"symbol": "values_fill", "signature": "(length: u64, into: out string) -> u64"},
            "spill": {"symbol": "values_spill", "signature": "(length: u64, into: out string)"},
            "mixed": {"symbol": "values_mixed", "signature": "(which: string, text: out string, data: out bytes)"},
            "text": {"symbol": "values_text", "signature": "(which: string) -> string"},
            "json": {"symbol": "values_json", "signature": "(which: string) -> json"},
            "number": {"symbol": "values_number", "signature": "(which: string) -> f64"},
            "claim": {"symbol": "values_claim", "signature": "(length: u64) -> bytes"},
            "released": {"symbol": "values_released", "signature": "() -> u64"},
            "array": {"symbol": "values_array", "signature": "(count: u64) async -> json"},
            "nest": {"symbol": "values_nest", "signature": "(depth: u64) async -> json"},
            "say": {"symbol": "values_say", "signature": "(data: bytes) async -> string"},
            "make": {"symbol": "values_make", "signature": "(value: i64) -> handle"},
            "read": {"symbol": "values_read", "signature": "(from: handle) -> i64"},
            "fail": {"symbol": "values_fail", "signature": "(status: i32) -> bytes"},
            "spoil": {"symbol": "values_spoil", "signature": "() -> bytes"},
            "spoilt": {"symbol": "values_spoilt", "signature": "() -> u64"}
        }
    }
});

CONNECTOR_EXPORT const connector_plugin *values_entry(void) {
    static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION, fixture_create,
                                            fixture_open, NULL, NULL, fixture_destroy, NULL};
    return &plugin;
}

/** How many results were given back, by this image. */
static uint64_t released;

static void release(void *context) {
    __atomic_add_fetch(&released, 1, __ATOMIC_SEQ_CST);
    free(context);
}

static int32_t own(connector_bytes_owned *result, const void *bytes, uint64_t length) {
    uint8_t *copy = malloc(length + 1);
    if (copy == NULL) return CONNECTOR_FAILED;
    memcpy(copy, bytes, length);
    result->data = copy;
    result->length = length;
    result->context = copy;
    result->release = release;
    return CONNECTOR_OK;
}

static int is(const char *text, uint64_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

CONNECTOR_EXPORT int32_t values_numbers(void *instance, int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f,
                                        uint32_t g, uint64_t h, float i, double j, int8_t *a2, int16_t *b2, int32_t *c2,
                                        int64_t *d2, uint8_t *e2, uint16_t *f2, uint32_t *g2, uint64_t *h2, float *i2,
                                        double *j2, connector_error *error) {
    (void)instance;
    (void)error;
    *a2 = a, *b2 = b, *c2 = c, *d2 = d, *e2 = e, *f2 = f, *g2 = g, *h2 = h, *i2 = i, *j2 = j;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_maybe(void *instance, const int16_t *a, const double *b, const char *c, uint64_t c_length,
                                      void *d, connector_bytes_owned *result, connector_error *error) {
    char text[5] = "----";
    (void)instance;
    (void)error;
    if (a != NULL) text[0] = *a == -7 ? 'a' : '?';
    if (b != NULL) text[1] = *b == 0.5 ? 'b' : '?';
    if (c != NULL) text[2] = c_length == 0 ? '0' : 'c';
    if (d != NULL) text[3] = 'd';
    return own(result, text, 4);
}

CONNECTOR_EXPORT int32_t values_count(void *instance, const char *text, uint64_t length, uint64_t *result,
                                      connector_error *error) {
    (void)instance;
    (void)error;
    *result = text == NULL ? UINT64_MAX : length;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_cut(void *instance, const char *text, uint64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = strlen(text);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_sum(void *instance, const uint8_t *data, uint32_t length, uint32_t *result,
                                    connector_error *error) {
    (void)instance;
    (void)error;
    *result = 0;
    for (uint32_t index = 0; index < length; index++) *result += data[index];
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_reverse(void *instance, const uint8_t *data, uint64_t length, connector_bytes_owned *result,
                                        connector_error *error) {
    (void)instance;
    (void)error;
    int32_t status = own(result, data, length);
    for (uint64_t index = 0; status == CONNECTOR_OK && index < length; index++)
        ((uint8_t *)result->context)[index] = data[length - 1 - index];
    return status;
}

CONNECTOR_EXPORT int32_t values_pair(void *instance, const char *data, uint64_t length, connector_bytes_owned *first,
                                     connector_bytes_owned *second, connector_error *error) {
    (void)instance;
    (void)error;
    own(first, data, length);
    return own(second, data, length);
}

CONNECTOR_EXPORT int32_t values_fill(void *instance, uint64_t length, char *buffer, uint64_t capacity, uint64_t *written,
                                     uint64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *written = length;
    *result = capacity;
    if (length > capacity) return fixture_fail(error, CONNECTOR_TOO_LARGE, "the buffer is too small");
    memset(buffer, 'x', length);
    return CONNECTOR_OK;
}

/** Says how much it needs, and no more than the status if that is too much. */
CONNECTOR_EXPORT int32_t values_spill(void *instance, uint64_t length, char *buffer, uint64_t capacity, uint64_t *written,
                                      connector_error *error) {
    (void)instance, (void)buffer, (void)error;
    *written = length;
    return length > capacity ? CONNECTOR_TOO_LARGE : CONNECTOR_OK;
}

/** Answers a text and bytes; a text that is not UTF-8, or whose length its buffer cannot hold, if it is asked to. */
CONNECTOR_EXPORT int32_t values_mixed(void *instance, const char *which, uint64_t length, char *text, uint64_t capacity,
                                      uint64_t *written, uint8_t *data, uint64_t data_capacity, uint64_t *data_written,
                                      connector_error *error) {
    (void)instance, (void)data_capacity, (void)error;
    memcpy(text, "caf\xe9", 4);
    *written = is(which, length, "latin") ? 4 : is(which, length, "long") ? capacity + 1 : 3;
    data[0] = 'x';
    *data_written = 1;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_text(void *instance, const char *which, uint64_t length, connector_bytes_owned *result,
                                     connector_error *error) {
    (void)instance;
    if (is(which, length, "nul")) return own(result, "a\0b", 3);
    if (is(which, length, "latin")) return own(result, "caf\xe9", 4);
    if (is(which, length, "surrogate")) return own(result, "\xed\xa0\x80", 3);
    if (is(which, length, "nothing")) return CONNECTOR_OK;
    return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such text");
}

CONNECTOR_EXPORT int32_t values_json(void *instance, const char *which, uint64_t length, connector_bytes_owned *result,
                                     connector_error *error) {
    (void)instance;
    if (is(which, length, "words")) return own(result, "all is well", 11);
    if (is(which, length, "open")) return own(result, "{\"a\":\n [1, 2", 12);
    if (is(which, length, "latin")) return own(result, "\"caf\xe9\"", 6);
    if (is(which, length, "nan")) return own(result, "NaN", 3);
    if (is(which, length, "twice")) return own(result, "{\"a\":1,\"a\":2}", 13);
    if (is(which, length, "nothing")) return CONNECTOR_OK;
    return fixture_fail(error, CONNECTOR_NOT_FOUND, "no such text");
}

CONNECTOR_EXPORT int32_t values_number(void *instance, const char *which, uint64_t length, double *result,
                                       connector_error *error) {
    double zero = 0;
    (void)instance;
    (void)error;
    *result = is(which, length, "nan") ? zero / zero : is(which, length, "infinity") ? 1 / zero : -zero;
    return CONNECTOR_OK;
}

/** Claims a length that it has not got; with the length 1, no bytes either. */
CONNECTOR_EXPORT int32_t values_claim(void *instance, uint64_t length, connector_bytes_owned *result,
                                      connector_error *error) {
    int32_t status = own(result, "x", 1);
    (void)instance;
    (void)error;
    result->length = length;
    if (length == 1) result->data = NULL;
    return status;
}

CONNECTOR_EXPORT int32_t values_released(void *instance, uint64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = __atomic_load_n(&released, __ATOMIC_SEQ_CST);
    return CONNECTOR_OK;
}

/** Completes with a text that is made of a head, a repeated body and a tail. */
static int32_t answer(const fixture *self, const connector_call *call, uint64_t count, const char *body,
                      const char *last) {
    size_t size = strlen(body);
    uint8_t *text = malloc(2 * count * size + 16);
    size_t length = 0;
    if (text == NULL) return CONNECTOR_FAILED;
    if (last[0] == ']') text[length++] = '[';
    for (uint64_t index = 0; index < count; index++, length += size) memcpy(text + length, body, size);
    if (last[0] == ']') {
        text[length++] = '0';
        text[length++] = ']';
    } else {
        for (uint64_t index = 0; index < count; index++) text[length++] = ']';
    }
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, text, length, NULL);
    free(text);
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_array(void *instance, const connector_call *call, uint64_t count, connector_error *error) {
    (void)error;
    return answer(instance, call, count - 1, "0,", "]");
}

CONNECTOR_EXPORT int32_t values_nest(void *instance, const connector_call *call, uint64_t depth, connector_error *error) {
    (void)error;
    return answer(instance, call, depth, "[", "");
}

CONNECTOR_EXPORT int32_t values_say(void *instance, const connector_call *call, const uint8_t *data, uint64_t length,
                                    connector_error *error) {
    const fixture *self = instance;
    (void)error;
    self->host->complete(self->host->context, call->operation, CONNECTOR_OK, data, length, NULL);
    return CONNECTOR_OK;
}

/** Gives out an address; zero gives out none. */
CONNECTOR_EXPORT int32_t values_make(void *instance, int64_t value, void **result, connector_error *error) {
    int64_t *place = value == 0 ? NULL : malloc(sizeof(int64_t));
    (void)instance;
    (void)error;
    if (place != NULL) *place = value;
    *result = place;
    return CONNECTOR_OK;
}

CONNECTOR_EXPORT int32_t values_read(void *instance, void *from, int64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = *(const int64_t *)from;
    return CONNECTOR_OK;
}

/** Fills in an error whose texts have no end and are not UTF-8. */
CONNECTOR_EXPORT int32_t values_fail(void *instance, int32_t status, connector_bytes_owned *result,
                                     connector_error *error) {
    (void)instance;
    (void)result;
    error->code = status;
    error->retryable = 7;
    error->detail = -5;
    error->retry_after_ns = UINT64_MAX;
    memset(error->domain, 'd', sizeof(error->domain));
    memset(error->message, 0xE9, sizeof(error->message));
    return status;
}

/** How many results of "spoil" were given back, by this image. */
static uint64_t spoilt;

static void release_spoilt(void *context) {
    (void)context;
    __atomic_add_fetch(&spoilt, 1, __ATOMIC_SEQ_CST);
}

/** Fills in a result, and fails. */
CONNECTOR_EXPORT int32_t values_spoil(void *instance, connector_bytes_owned *result, connector_error *error) {
    (void)instance;
    result->data = (const uint8_t *)"x";
    result->length = 1;
    result->release = release_spoilt;
    return fixture_fail(error, CONNECTOR_FAILED, "it went wrong later");
}

CONNECTOR_EXPORT int32_t values_spoilt(void *instance, uint64_t *result, connector_error *error) {
    (void)instance;
    (void)error;
    *result = __atomic_load_n(&spoilt, __ATOMIC_SEQ_CST);
    return CONNECTOR_OK;
}
