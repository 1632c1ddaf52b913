/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * author.c: checks connector/author.h, as a program of its own. Exits with the number of failed checks, and prints them.
 */
#ifdef DECIMAL_COMMA
#include "../tools/decimal-comma.h"
#endif
#include <connector/author.h>

/* The header that puts commas into printf leaves strtod alone, so that a number survives only with all 17 digits. */
#ifdef DECIMAL_COMMA
#define TENTH "0.10000000000000001"
#else
#define TENTH "0.1"
#endif

static int failures = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static connector_json parse(const char *text) { return connector_json_parse(text, strlen(text)); }

static void check_syntax(void) {
    static const char *const valid[] = {
        "null", " true ", "0", "-0", "-1.5e+3", "1E9", "\"\"", "\"\\u00e9\\n\\/\"", "[]", "[ ]", "{}", "{ }", "[1,2]",
        "{\"a\":1}", "{\"a\" : [ {} , [ ] ] , \"b\" : \"}\"}", "[[[[]]],{\"x\":{}}]", "1e308", "-1e-400",
        "\"\\ud83d\\ude00\"",
        "{\"a\":{\"a\":[{\"a\":\"a\"},{\"a\":\":\"}]},\"A\":{\"b\":1},\"b\":2,\"b\\u0000\":3,\"\":4}",
    };
    static const char *const invalid[] = {
        "", " ", "nul", "truex", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[", "[1", "[1,",
        "[1,]", "[,1]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}", "[}", "{]",
        "1 2", "[1]]", "]", "\"a\\", "\"\\u12",
        /* What the host refuses: numbers beyond a double, halves of surrogate pairs, a duplicate name. */
        "1e400", "[-1e400]", "\"\\ud800\"", "\"\\ud800!\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ude00\"",
        "\"\\ude00\\ud83d\"", "\"\\ud83d\\ude0\"", "{\"a\":1,\"a\":1}", "[{\"x\":{\"a\":1,\"b\":{},\"\\u0061\" :2}}]",
        "{\"\xc3\xa9\":{\"a\":1},\"b\":[],\"\\u00e9\":2}", "{\"\":1,\"\":2}",
    };
    char digits[600];
    char deep[2 * CONNECTOR_JSON_DEPTH + 2];
    size_t index;
    for (index = 0; index < sizeof valid / sizeof *valid; index++) {
        if (parse(valid[index]).text == NULL) fprintf(stderr, "valid: %s\n", valid[index]), failures++;
    }
    for (index = 0; index < sizeof invalid / sizeof *invalid; index++) {
        if (parse(invalid[index]).text != NULL) fprintf(stderr, "invalid: %s\n", invalid[index]), failures++;
    }
    memset(deep, '[', CONNECTOR_JSON_DEPTH);
    memset(deep + CONNECTOR_JSON_DEPTH, ']', CONNECTOR_JSON_DEPTH);
    CHECK(connector_json_parse(deep, 2 * CONNECTOR_JSON_DEPTH).text != NULL);
    memset(deep, '[', CONNECTOR_JSON_DEPTH + 1);
    memset(deep + CONNECTOR_JSON_DEPTH + 1, ']', CONNECTOR_JSON_DEPTH + 1);
    CHECK(connector_json_parse(deep, sizeof deep).text == NULL);
    CHECK(connector_json_parse(NULL, 0).text == NULL);
    memset(digits, '1', sizeof digits);
    CHECK(connector_json_parse(digits, 309).text != NULL);
    CHECK(connector_json_parse(digits, 310).text == NULL);
    CHECK(connector_json_parse(digits, sizeof digits).text == NULL);
}

static void check_values(void) {
    const connector_json object = parse("{\"a\":{\"b\":[1,\"two\",null]},\"\\u0061c\":3,\"e\":\"\\ud83d\\ude00!\"}");
    const connector_json infinite = {"1e400", 5};
    connector_json key, value = connector_json_none();
    char text[16];
    double number;
    int64_t whole;
    size_t position = 0, count = 0;
    const connector_json list = connector_json_member(connector_json_member(object, "a"), "b");
    while (connector_json_next(list, &position, &key, &value)) count++;
    CHECK(count == 3 && connector_json_begins(value, 'n'));
    CHECK(connector_json_int64(connector_json_member(object, "ac"), &whole) && whole == 3);
    CHECK(connector_json_member(object, "d").text == NULL);
    CHECK(connector_json_member(list, "a").text == NULL);
    CHECK(connector_json_member(connector_json_none(), "a").text == NULL);
    CHECK(connector_json_string(connector_json_member(object, "e"), text, sizeof text) == CONNECTOR_OK);
    CHECK(strcmp(text, "\xf0\x9f\x98\x80!") == 0);
    CHECK(connector_json_string(parse("\"12345\""), text, 6) == CONNECTOR_OK && strcmp(text, "12345") == 0);
    CHECK(connector_json_string(parse("\"12345\""), text, 5) == CONNECTOR_TOO_LARGE && text[0] == '\0');
    CHECK(connector_json_string(parse("\"a\\u0000\""), text, sizeof text) == CONNECTOR_INVALID);
    CHECK(connector_json_string(parse("12"), text, sizeof text) == CONNECTOR_INVALID);
    CHECK(connector_json_equals(parse("\"\\u00e9\""), "\xc3\xa9", 2));
    CHECK(connector_json_equals(parse("\"\xc3\xa9\xf0\x9f\x98\x80\""), "\xc3\xa9\xf0\x9f\x98\x80", 6));
    {
        static const char *const wrong[] = {"\xe9", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"};
        for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
            char quoted[8];
            (void)snprintf(quoted, sizeof quoted, "\"%s\"", wrong[index]);
            CHECK(parse(quoted).text == NULL);
        }
    }
    CHECK(!connector_json_equals(parse("\"ab\""), "a", 1) && !connector_json_equals(parse("\"a\""), "ab", 2));
    CHECK(connector_json_double(parse("-12.5e1"), &number) && number == -125.0);
    CHECK(!connector_json_double(parse("\"1\""), &number) && !connector_json_double(infinite, &number));
    CHECK(connector_json_int64(parse("-9223372036854775808"), &whole) && whole == INT64_MIN);
    CHECK(connector_json_int64(parse("9223372036854775807"), &whole) && whole == INT64_MAX);
    CHECK(!connector_json_int64(parse("9223372036854775808"), &whole) && !connector_json_int64(parse("1.0"), &whole));
}

static int is_text(connector_text *text, const char *expected) {
    const int is_equal = !text->is_incomplete && text->length == strlen(expected) &&
                         (text->length == 0 || memcmp(text->bytes, expected, text->length) == 0);
    if (!is_equal) fprintf(stderr, "%.*s\n", (int)text->length, text->bytes == NULL ? "" : text->bytes);
    connector_text_free(text);
    return is_equal;
}

static void check_writing(void) {
    connector_text text = {NULL, 0, 0, 0};
    connector_text_open(&text, '{');
    connector_text_key(&text, "a");
    connector_text_open(&text, '[');
    connector_text_int64(&text, INT64_MIN);
    connector_text_double(&text, 0.1);
    connector_text_double(&text, 1e300);
    connector_text_double(&text, 1e300 * 1e300);
    connector_text_close(&text, ']');
    connector_text_key(&text, "b");
    connector_text_string(&text, "\"\\\n,[", 5);
    connector_text_key(&text, "c");
    connector_text_json(&text, parse("{\"x\": 1}"));
    connector_text_key(&text, "d");
    connector_text_json(&text, connector_json_none());
    connector_text_close(&text, '}');
    CHECK(is_text(&text, "{\"a\":[-9223372036854775808," TENTH ",1e+300,null],\"b\":\"\\\"\\\\\\u000a,[\",\"c\":{\"x\": 1},\"d\":null}"));
    connector_text_encode(&text, "a-Z.0_~/? &\xc3\xa9", 13);
    CHECK(is_text(&text, "a-Z.0_~%2F%3F%20%26%C3%A9"));
    connector_text_base(&text, "https://x/v1//");
    connector_text_put(&text, "/a");
    CHECK(is_text(&text, "https://x/v1/a"));
    connector_text_base(&text, "");
    connector_text_put(&text, "https://x/a");
    connector_text_query(&text, "a b", NULL, 0);
    connector_text_query(&text, "a b", "{{c}}&", 6);
    connector_text_query_number(&text, "n", UINT64_MAX);
    CHECK(is_text(&text, "https://x/a?a%20b=%7B%7Bc%7D%7D%26&n=18446744073709551615"));
    text.length = CONNECTOR_TEXT_LIMIT;
    connector_text_bytes(&text, "x", 1);
    CHECK(text.is_incomplete);
}

static connector_http_response response(uint32_t status, connector_http_header *header, const char *retry_after) {
    connector_http_response response;
    memset(&response, 0, sizeof response);
    response.struct_size = sizeof response;
    response.status = status;
    header->name = "retry-AFTER";
    header->name_length = 11;
    header->value = retry_after;
    header->value_length = strlen(retry_after);
    response.headers = header;
    response.header_count = 1;
    return response;
}

/* A host whose only service is a clock, and how often it was asked for one. */
static uint64_t wall_time;
static int asked;

static uint64_t wall_ns(void *context) {
    (void)context;
    return wall_time;
}

static connector_clock wall;

static const void *service(void *context, const char *id, uint64_t length) {
    (void)context;
    asked++;
    return wall_time > 0 && length == 7 && memcmp(id, CONNECTOR_CLOCK_SERVICE, 7) == 0 ? &wall : NULL;
}

static void check_errors(void) {
    static const struct {
        uint32_t status;
        int32_t code;
        uint32_t retryable;
    } statuses[] = {
        {302, CONNECTOR_PROTOCOL, 1}, {400, CONNECTOR_INVALID, 0}, {401, CONNECTOR_UNAUTHORIZED, 0},
        {402, CONNECTOR_UNAVAILABLE, 0}, {407, CONNECTOR_UNAVAILABLE, 0}, {421, CONNECTOR_UNAVAILABLE, 1},
        {425, CONNECTOR_UNAVAILABLE, 1},
        {404, CONNECTOR_NOT_FOUND, 0}, {405, CONNECTOR_UNSUPPORTED, 0}, {408, CONNECTOR_TIMED_OUT, 1},
        {412, CONNECTOR_CONFLICT, 0}, {413, CONNECTOR_TOO_LARGE, 1}, {418, CONNECTOR_FAILED, 0},
        {429, CONNECTOR_RATE_LIMITED, 1}, {500, CONNECTOR_UNAVAILABLE, 1}, {501, CONNECTOR_UNSUPPORTED, 0},
        {503, CONNECTOR_UNAVAILABLE, 1}, {505, CONNECTOR_UNAVAILABLE, 0}, {999, CONNECTOR_PROTOCOL, 1},
    };
    static const struct {
        uint32_t status;
        const char *type;
        const char *body;
        int is_page;
    } pages[] = {
        {400, "text/html; charset=utf-8", "Bad request", 1}, {422, "Application/XHTML+xml", "Bad request", 1},
        {413, "text/html", "<html>", 1}, {413, "application/json", "{}", 0},
        {400, "application/json", " \xef\xbb\xbf<html>", 1}, {400, "", "<html>", 1},
        {400, "text/html", " {\"error\": 1}", 0}, {400, "text/html", "[]", 0}, {400, "text/html", " \r\n", 0},
        {400, "text/plain; format=html", "Bad request", 0}, {404, "text/html", "<html>", 0},
    };
    const uint64_t second = 1000000000u, now = 784111777u * second;
    connector_host host;
    connector_gate gate = {&host, NULL, NULL, "vendor"};
    connector_http_header header, dated[2];
    connector_http_response answer;
    connector_error error = connector_error_of("a vendor whose name is longer than a domain");
    char message[sizeof error.message + 8];
    size_t index;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.service = service;
    wall.struct_size = sizeof wall;
    wall.wall_ns = wall_ns;
    CHECK(strlen(error.domain) == CONNECTOR_ERROR_DOMAIN_SIZE - 1);
    for (index = 0; index < sizeof statuses / sizeof *statuses; index++) {
        answer = response(statuses[index].status, &header, "7");
        error = connector_gate_error(&gate, &answer);
        if (error.code != statuses[index].code || error.retryable != statuses[index].retryable ||
            error.detail != (int32_t)statuses[index].status || strstr(error.message, "vendor") == NULL) {
            fprintf(stderr, "HTTP %u: %d\n", (unsigned)statuses[index].status, (int)error.code), failures++;
        }
        CHECK(error.retry_after_ns == (answer.status < 400 ? 0 : 7 * second));
    }
    for (index = 0; index < sizeof pages / sizeof *pages; index++) {
        answer = response(pages[index].status, &header, pages[index].type);
        header.name = "content-TYPE";
        header.name_length = 12;
        answer.body = (const uint8_t *)pages[index].body;
        answer.body_length = strlen(pages[index].body);
        error = connector_gate_error(&gate, &answer);
        const int foreign_code = pages[index].status == 413 ? CONNECTOR_TOO_LARGE : CONNECTOR_PROTOCOL;
        if ((pages[index].is_page && error.code != foreign_code) || (int)error.retryable != pages[index].is_page ||
            (strstr(error.message, "a web page") != NULL) != pages[index].is_page) {
            fprintf(stderr, "HTTP %u %s: %s\n", (unsigned)answer.status, pages[index].body, error.message), failures++;
        }
    }
    /* Only a date asks for the time. */
    CHECK(asked == 0);
#define AFTER(text, at) (answer = response(503, &header, text), wall_time = (at), connector_gate_error(&gate, &answer).retry_after_ns)
    CHECK(AFTER("Sun, 06 Nov 1994 08:49:37 GMT", now - 5 * second) == 5 * second);
    CHECK(AFTER("Thu, 29 Feb 2024 00:00:01 GMT", 1709164800u * second) == second);
    CHECK(AFTER("Sun, 06 Nov 1994 08:49:37 GMT", now + second) == 0);
    CHECK(AFTER("Sun, 06 Nov 1994 08:49:37 GMT", 0) == 0);
    CHECK(AFTER("Sun, 06 onN 1994 08:49:37 GMT", now) == 0);
    CHECK(AFTER("99999999999999999999", now) == 31536000 * second);
    CHECK(AFTER("Fri, 31 Dec 2100 00:00:00 GMT", now) == 31536000 * second);
    CHECK(AFTER("soon", now) == 0 && AFTER("", now) == 0);
    answer = response(503, &header, "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(connector_error_of_response(&answer, "vendor", now - second).retry_after_ns == second);
    /* A date is measured from that of the response, whatever the clock says, and the clock is not asked. */
    (void)response(503, &dated[0], "Sun, 06 Nov 1994 08:49:37 GMT");
    (void)response(503, &dated[1], "Sun, 06 Nov 1994 08:49:34 GMT");
    dated[1].name = "date";
    dated[1].name_length = 4;
    answer.headers = dated;
    answer.header_count = 2;
    asked = 0;
    CHECK(connector_gate_error(&gate, &answer).retry_after_ns == 3 * second && asked == 0);
    /* A message is cut between characters. */
    memset(message, 'x', sizeof message);
    memcpy(message + sizeof error.message - 2, "\xc3\xa9", 3);
    error = connector_error_of("vendor");
    CHECK(connector_fail(&error, CONNECTOR_INVALID, "%s", message) == CONNECTOR_INVALID);
    CHECK(strlen(error.message) == sizeof error.message - 2);
    error.struct_size = 8;
    error.code = 0;
    CHECK(connector_fail(&error, CONNECTOR_INVALID, "no room") == CONNECTOR_INVALID && error.code == 0);
    CHECK(connector_fail(NULL, CONNECTOR_INVALID, "nobody asks") == CONNECTOR_INVALID);
}

/* Reads every part of damaged texts, each in memory of exactly its size, where a sanitizer sees every read beyond it. */
static void check_damage(unsigned rounds) {
    static const char text[] = "{\"a\": [1.5e3, -0, {\"\\ud83d\\ude00\": \"x\\n\"}], \"b\": {\"c\": [true, null, \"\\u0041\"]}}";
    static const char bytes[] = "{}[]\",:\\u0dD8 e-+.1tnf\x00\x1f\xff";
    unsigned random = 1;
    while (rounds-- > 0) {
        size_t length = sizeof text - 1, change, position = 0;
        char *copy, buffer[64];
        connector_json whole, key, value;
        double number;
        random = random * 1103515245u + 12345u;
        if ((random >> 16 & 3) == 0) length = (random >> 18) % length;
        copy = (char *)malloc(length > 0 ? length : 1);
        if (copy == NULL) return;
        memcpy(copy, text, length);
        for (change = 0; change < 3 && length > 0; change++) {
            random = random * 1103515245u + 12345u;
            copy[(random >> 16) % length] = bytes[(random >> 8) % (sizeof bytes - 1)];
        }
        whole = connector_json_parse(copy, length);
        while (connector_json_next(whole, &position, &key, &value)) {
            connector_json_string(key, buffer, sizeof buffer);
            connector_json_string(value, buffer, sizeof buffer);
            connector_json_double(value, &number);
            connector_json_member(value, "c");
        }
        free(copy);
    }
}

int main(void) {
    check_syntax();
    check_values();
    check_writing();
    check_errors();
    check_damage(200000);
    return failures > 100 ? 100 : failures;
}
