/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * http: opens once a server has answered a GET of its "endpoint", and is authenticated if the answer is 200. Its operation
 * "twice" sends the same request, and another one from its callback; "half" sends none. It may ask for the time, and does not.
 */
#include "../fixture.h"

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "http",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "fixture_entry",
    "documentation": "Opens by a request.",
    "configuration": {
        "endpoint": {"type": "url", "required": true, "documentation": "What to GET."},
        "token": {"type": "string", "secret": true}
    },
    "capabilities": {
        "fetch/1": {
            "twice": {"symbol": "http_twice", "signature": "() async"},
            "half": {"symbol": "http_half", "signature": "(of: f64) -> f64", "prompt": true}
        }
    },
    "services": {"required": ["http/1"], "optional": ["clock/1"]},
    "egress": ["{endpoint}"]
});

static void done(void *user, int32_t status, const connector_http_response *response, const connector_error *error) {
    const fixture *self = user;
    const char *text = "[{\"kind\":\"reachable\",\"detail\":\"the server answered\"}]";
    if (status == CONNECTOR_OK && response->status == 200)
        text = "[{\"kind\":\"authenticated\",\"detail\":\"the server answered 200\"}]";
    if (status == CONNECTOR_OK && response->status == 401) status = CONNECTOR_UNAUTHORIZED;
    self->host->complete(self->host->context, self->operation, status, (const uint8_t *)text,
                         status == CONNECTOR_OK ? strlen(text) : 0, error);
}

static int32_t get(fixture *self, uint64_t deadline, connector_http_done answered, connector_error *error) {
    const connector_http *http = fixture_service(self, CONNECTOR_HTTP_SERVICE);
    const char *key = "\"endpoint\":\"";
    const char *url = strstr(self->config, key);
    const char *end;
    const connector_http_header header = {"Authorization", 13, "Bearer {{secret:token}}", 23};
    connector_http_request request;
    uint64_t identifier;
    if (http == NULL) return fixture_fail(error, CONNECTOR_UNSUPPORTED, "the host has no http/1");
    if (url == NULL) return fixture_fail(error, CONNECTOR_INVALID, "there is no endpoint");
    url += strlen(key);
    end = strchr(url, '"');
    if (end == NULL) return fixture_fail(error, CONNECTOR_INVALID, "there is no endpoint");
    memset(&request, 0, sizeof(request));
    request.struct_size = sizeof(request);
    request.method = "GET";
    request.method_length = 3;
    request.url = url;
    request.url_length = (uint64_t)(end - url);
    if (strstr(self->config, "\"token\"") != NULL) {
        request.headers = &header;
        request.header_count = 1;
    }
    request.deadline_ns = deadline;
    request.during = self->operation;
    return http->request(http->context, &request, answered, self, &identifier, error);
}

static int32_t open_by_request(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    self->operation = call->operation;
    return get(self, call->deadline_ns, done, error);
}

static void second(void *user, int32_t status, const connector_http_response *response, const connector_error *error) {
    const fixture *self = user;
    (void)response;
    self->host->complete(self->host->context, self->operation, status, NULL, 0, error);
}

static void first(void *user, int32_t status, const connector_http_response *response, const connector_error *error) {
    connector_error failure;
    memset(&failure, 0, sizeof(failure));
    failure.struct_size = sizeof(failure);
    if (status != CONNECTOR_OK || get(user, CONNECTOR_NO_DEADLINE, second, &failure) != CONNECTOR_OK)
        second(user, CONNECTOR_FAILED, response, error);
}

CONNECTOR_EXPORT int32_t http_twice(void *instance, const connector_call *call, connector_error *error) {
    fixture *self = instance;
    self->operation = call->operation;
    return get(self, call->deadline_ns, first, error);
}

CONNECTOR_EXPORT int32_t http_half(void *instance, double of, double *result, connector_error *error) {
    (void)instance, (void)error;
    *result = of / 2;
    return CONNECTOR_OK;
}

FIXTURE_PLUGIN(open_by_request)
