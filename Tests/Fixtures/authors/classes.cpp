/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * classes.cpp: checks connector/author.hpp with a host of its own. Exits with the number of failed checks, and prints them.
 */
#include <algorithm>
#include <connector/author.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

int failures = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                       \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

struct Completion {
    uint64_t operation;
    int32_t status;
    std::string text;
    std::string domain;
};

std::vector<Completion> completions;

/* A request that waits for its answer. */
connector_http_done pending = nullptr;
void *user = nullptr;
std::string requested;
uint64_t served = 0;
int32_t refusal = CONNECTOR_OK;

int32_t complete(void *, uint64_t operation, int32_t status, const uint8_t *result, uint64_t length,
                 const connector_error *error) {
    if (error != nullptr) {
        completions.push_back({operation, status, error->message, error->domain});
    } else {
        completions.push_back({operation, status, std::string(reinterpret_cast<const char *>(result), length), ""});
    }
    return CONNECTOR_OK;
}

int32_t request(void *, const connector_http_request *request, connector_http_done done, void *context, uint64_t *identifier,
                connector_error *error) {
    if (refusal != CONNECTOR_OK) return connector_fail(error, refusal, "refused");
    requested.assign(request->url, request->url_length);
    served = request->during;
    pending = done;
    user = context;
    *identifier = 1;
    return CONNECTOR_OK;
}

uint64_t wall_ns(void *) { return 1; }

const connector_http http = [] {
    connector_http table = {};
    table.struct_size = sizeof table;
    table.request = request;
    return table;
}();

const connector_clock clock_table = [] {
    connector_clock table = {};
    table.struct_size = sizeof table;
    table.wall_ns = wall_ns;
    return table;
}();

/* The services that the plugin has asked for. */
std::vector<std::string> asked;
bool lends = true;

const void *service(void *, const char *id, uint64_t length) {
    const std::string_view name(id, length);
    asked.emplace_back(name);
    if (!lends) return nullptr;
    return name == "http/1" ? static_cast<const void *>(&http)
                            : name == "clock/1" ? static_cast<const void *>(&clock_table) : nullptr;
}

const connector_host host = [] {
    connector_host table = {};
    table.struct_size = sizeof table;
    table.service = service;
    table.complete = complete;
    return table;
}();

class gate {
public:
    static connector::Result<std::unique_ptr<gate>> create(connector::Host host, connector::Json config) {
        if (config["throws"].boolean().value_or(false)) throw std::runtime_error("thrown by create");
        const auto name = config["name"].string();
        if (!name) return connector::Error{CONNECTOR_INVALID, "name is missing"};
        return std::make_unique<gate>(host, *name);
    }
    gate(connector::Host host, std::string name) : name(std::move(name)), host(host) {}

    void open(connector::Call call) { call.prove("configured", name); }
    void cancel(uint64_t) { throw std::runtime_error("nobody sees this"); }

    std::string name;
    connector::Host host;
};

void answer(uint32_t status, const char *body) {
    connector_http_response response = {};
    response.struct_size = sizeof response;
    response.status = status;
    response.body = reinterpret_cast<const uint8_t *>(body);
    response.body_length = std::strlen(body);
    const auto done = std::exchange(pending, nullptr);
    done(user, CONNECTOR_OK, &response, nullptr);
}

} // namespace

CONNECTOR_ENTRY(gate_plugin, gate)
CONNECTOR_VENDOR_ENTRY(vendor_plugin, gate, "a vendor")

int main() {
    const connector_plugin &plugin = *gate_plugin();
    connector_error error = connector_error_of("");
    void *instance = nullptr;
    CHECK(plugin.probe == nullptr && plugin.close == nullptr && plugin.cancel != nullptr);
    const std::string thrown = "{\"throws\": true}", nameless = "{}", named = "{\"name\": \"a\\\"b\"}";
    CHECK(plugin.create(&host, thrown.data(), thrown.size(), &instance, &error) == CONNECTOR_FAILED);
    CHECK(std::string(error.message) == "thrown by create");
    CHECK(plugin.create(&host, nameless.data(), nameless.size(), &instance, &error) == CONNECTOR_INVALID);
    CHECK(std::string(error.message) == "name is missing" && std::string(error.domain) == "gate");
    CHECK(vendor_plugin()->create(&host, nameless.data(), nameless.size(), &instance, &error) == CONNECTOR_INVALID);
    CHECK(std::string(error.domain) == "a vendor");
    CHECK(plugin.create(&host, named.data(), named.size(), &instance, &error) == CONNECTOR_OK);

    connector_call call = {sizeof call, 0, 1, CONNECTOR_NO_DEADLINE};
    const auto perform = [&](auto body) {
        call.operation++;
        completions.clear();
        return connector::perform<gate>(instance, &call, &error, body);
    };
    const auto is_completed = [&](int32_t status, const std::string &text) {
        return completions.size() == 1 && completions[0].operation == call.operation && completions[0].status == status &&
               completions[0].text.find(text) != std::string::npos && (status == CONNECTOR_OK || completions[0].domain == "gate");
    };
    completions.clear();
    CHECK(plugin.open(instance, &call, &error) == CONNECTOR_OK);
    CHECK(is_completed(CONNECTOR_OK, R"([{"kind":"configured","detail":"a\"b"}])"));
    plugin.cancel(instance, 1);

    /* Calls: one that is dropped, one whose function throws, one that is completed twice. */
    perform([](gate &, connector::Call) {});
    CHECK(is_completed(CONNECTOR_FAILED, "dropped"));
    perform([](gate &, connector::Call) { throw 1; });
    CHECK(is_completed(CONNECTOR_FAILED, "an unknown exception"));
    perform([](gate &, connector::Call) { throw std::runtime_error("thrown by an operation"); });
    CHECK(is_completed(CONNECTOR_FAILED, "thrown by an operation"));
    perform([](gate &, connector::Call call) {
        call.complete("first");
        throw std::runtime_error("nobody sees this");
    });
    CHECK(is_completed(CONNECTOR_OK, "first"));
    perform([](gate &, connector::Call call) {
        try {
            throw std::runtime_error("caught");
        } catch (const std::exception &) {
            const connector::Call dropped = std::move(call);
        }
    });
    CHECK(is_completed(CONNECTOR_FAILED, "dropped"));
    perform([](gate &, connector::Call call) {
        try {
            const connector::Call dropped = std::move(call);
            throw std::runtime_error("caught");
        } catch (const std::exception &) {
        }
    });
    CHECK(is_completed(CONNECTOR_FAILED, "dropped"));
    perform([](gate &, connector::Call call) {
        call.complete("first");
        call.complete("second");
        call.fail({CONNECTOR_INVALID, "third"});
    });
    CHECK(is_completed(CONNECTOR_OK, "first"));
    perform([](gate &, connector::Call call) {
        call.complete(connector::Text().open('[').integer(1).number(0.5).string("x").close(']').view());
    });
    CHECK(is_completed(CONNECTOR_OK, "[1,0.5,\"x\"]"));
    /* A text that is written where it is used, and one that has a name. */
    perform([](gate &, connector::Call call) {
        call.complete(connector::Text().open('{').key("a").string("x").close('}'));
    });
    CHECK(is_completed(CONNECTOR_OK, "{\"a\":\"x\"}"));
    perform([](gate &, connector::Call call) {
        connector::Text text("named");
        call.complete(text);
    });
    CHECK(is_completed(CONNECTOR_OK, "named"));
    perform([](gate &, connector::Call call) {
        connector::Text text("moved");
        call.complete(std::move(text));
    });
    CHECK(is_completed(CONNECTOR_OK, "moved"));

    CHECK(connector::Text().base("https://x/v1//").put("/a").view() == "https://x/v1/a");

    /* Requests: an answer, an answer that is not a success, a callback that throws, and a request that is refused. */
    const auto ask = [&](auto answered) {
        return perform([&](gate &self, connector::Call call) {
            self.host.get(std::move(call), connector::Text("https://x/"), answered);
        });
    };
    const auto value = [](connector::Call call, connector::Response response) {
        call.complete(response.json()["a"].text());
    };
    ask(value);
    CHECK(completions.empty() && requested == "https://x/" && served == call.operation);
    answer(200, "{\"a\": [1, 2]}");
    CHECK(is_completed(CONNECTOR_OK, "[1, 2]"));
    ask(value);
    answer(503, "");
    CHECK(is_completed(CONNECTOR_UNAVAILABLE, "gate answered HTTP 503"));
    ask(value);
    answer(400, "<html>Please log in.</html>");
    CHECK(is_completed(CONNECTOR_PROTOCOL, "a web page (HTTP 400) came instead of gate's answer"));
    ask([](connector::Call, connector::Response) { throw std::runtime_error("thrown by a callback"); });
    answer(200, "");
    CHECK(is_completed(CONNECTOR_FAILED, "thrown by a callback"));
    perform([&](gate &self, connector::Call call) {
        self.host.get(std::move(call), connector::Text("https://x/").put("a"), value);
    });
    CHECK(completions.empty() && requested == "https://x/a");
    answer(200, "{\"a\": 1}");
    CHECK(is_completed(CONNECTOR_OK, "1"));
    refusal = CONNECTOR_DENIED;
    ask(value);
    CHECK(completions.size() == 1 && completions[0].status == CONNECTOR_DENIED && completions[0].text == "refused");
    refusal = CONNECTOR_OK;

    /* The functions of C say which call a request serves, too. */
    const connector_gate plain = {&host, nullptr, nullptr, "plain"};
    connector_text url = {nullptr, 0, 0, 0};
    connector_text_bytes(&url, "https://x/", 10);
    call.operation++;
    const connector_exchange exchange = {nullptr, 0, [](const connector_exchange *, const connector_http_response *) {}, ""};
    CHECK(connector_get(&plain, &call, &url, exchange, &error) == CONNECTOR_OK && served == call.operation);
    answer(200, "");

    /* Foreign text stays within its part of the path. */
    const auto note = [&](std::string_view name) {
        perform([&](gate &self, connector::Call call) {
            connector::Text url("https://x/notes/");
            self.host.get(std::move(call), std::move(url.encode(name).query("at", "..", 2)), value);
        });
    };
    for (const char *name : {"...", ".a", "../b", ""}) {
        note(name);
        CHECK(completions.empty());
        answer(200, "{\"a\": 1}");
        CHECK(is_completed(CONNECTOR_OK, "1"));
    }
    for (const char *name : {".", ".."}) {
        note(name);
        CHECK(completions.size() == 1 && completions[0].status == CONNECTOR_INVALID);
    }

    /* A plugin that makes no requests needs no services, and asks for none; one that makes some is told what is missing. */
    CHECK(std::count(asked.begin(), asked.end(), "http/1") > 0 && std::count(asked.begin(), asked.end(), "clock/1") == 0);
    lends = false;
    asked.clear();
    void *alone = nullptr;
    CHECK(plugin.create(&host, named.data(), named.size(), &alone, &error) == CONNECTOR_OK);
    plugin.open(alone, &call, &error);
    CHECK(asked.empty());
    plugin.destroy(alone);
    ask(value);
    CHECK(completions.size() == 1 && completions[0].status == CONNECTOR_UNSUPPORTED);
    CHECK(completions[0].text == "the manifest must require http/1");

    /* A synchronous operation. */
    int32_t length = 0;
    const auto size = [&](bool fails) {
        return connector::answer<gate>(
            instance, &error,
            [&](gate &self) -> connector::Result<int32_t> {
                if (fails) return connector::Error{CONNECTOR_NOT_FOUND, "none"};
                return static_cast<int32_t>(self.name.size());
            },
            [&](int32_t value) { length = value; });
    };
    CHECK(size(false) == CONNECTOR_OK && length == 3);
    CHECK(size(true) == CONNECTOR_NOT_FOUND && std::string(error.message) == "none");
    plugin.destroy(instance);
    return failures;
}
