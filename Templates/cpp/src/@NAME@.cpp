#include <connector/author.hpp>

/* The host reads this without running any code of the file. */
CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "@NAME@",
    "version": "0.1.0",
    "abi": [1, 1],
    "entry": "@SNAKE@_plugin",
    "language": "c++",
    "documentation": "What this plugin connects to.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "@URL@", "documentation": "The URL of the server."},
        "apiKey": {"type": "string", "required": true, "secret": true, "documentation": "The key of the account."}
    },
    "capabilities": {
        "@CAPABILITY@": {
            "get": {
                "symbol": "@SNAKE@_get",
                "signature": "(key: string) async -> json",
                "documentation": "The value of an item.",
                "safe": true
            }
        }
    }
});

namespace {

using connector::Call;
using connector::Response;
using connector::Text;

/* One gate. It is never changed after `create`, so that any thread may read it. */
class @SNAKE@ {
public:
    static connector::Result<std::unique_ptr<@SNAKE@>> create(connector::Host host, connector::Json config) {
        auto endpoint = config["endpoint"].string();
        if (!endpoint) return connector::Error{CONNECTOR_INVALID, "endpoint is no string"};
        return std::unique_ptr<@SNAKE@>(new @SNAKE@(host, *endpoint));
    }

    /* Asks for something that needs the key, changes nothing and costs nothing. */
    void open(Call call) {
        ask(std::move(call), std::move(Text(endpoint).put("/account")), [](Call call, Response response) {
            /* A status alone proves nothing: a captive portal says 200, too. */
            const auto account = response.json()["account"].string();
            if (!account) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no account"});
            call.prove("authenticated", *account);
        });
    }

    void probe(Call call) { open(std::move(call)); }

    /* The operation `get`. */
    void get(Call call, std::string_view key) {
        if (key.empty()) return call.fail({CONNECTOR_INVALID, "a key is not empty"});
        ask(std::move(call), std::move(Text(endpoint).put("/items/").encode(key)), [](Call call, Response response) {
            const auto value = response.json()["value"];
            if (!value) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no value"});
            call.complete(value.text());
        });
    }

private:
    @SNAKE@(connector::Host host, std::string endpoint) : host(host), endpoint(std::move(endpoint)) {}

    /* Sends a GET with the key, which the host puts in as it sends the request. */
    template <class Answered> void ask(Call call, Text url, Answered answered) const {
        static const connector_http_header authorization = {"Authorization", 13, "Bearer {{secret:apiKey}}", 24};
        connector_http_request request = {};
        request.method = "GET";
        request.method_length = 3;
        request.headers = &authorization;
        request.header_count = 1;
        host.send(std::move(call), request, std::move(url), std::move(answered));
    }

    const connector::Host host;
    const std::string endpoint;
};

} // namespace

/* Its prototype follows from its signature: see connector/operation.h. */
CONNECTOR_EXPORT int32_t @SNAKE@_get(void *instance, const connector_call *call, const char *key, uint64_t length,
                                     connector_error *error) {
    return connector::perform<@SNAKE@>(instance, call, error, [&](@SNAKE@ &self, Call call) {
        self.get(std::move(call), {key, static_cast<std::size_t>(length)});
    });
}

CONNECTOR_ENTRY(@SNAKE@_plugin, @SNAKE@)
