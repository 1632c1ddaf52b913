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
        @MANIFESTED@
    }
});

namespace {

using connector::Call;
using connector::Response;
using connector::Text;

/* One gate. It is never changed after `create`, so that any thread may read it. */
class Adapter {
public:
    static connector::Result<std::unique_ptr<Adapter>> create(connector::Host host, connector::Json config) {
        auto endpoint = config["endpoint"].string();
        if (!endpoint) return connector::Error{CONNECTOR_INVALID, "endpoint is not a string"};
        return std::unique_ptr<Adapter>(new Adapter(host, *endpoint));
    }

    /* Requests something that needs the key, changes nothing and costs nothing. */
    void open(Call call) {
        send(std::move(call), "GET", url("/account"), {}, [](Call call, Response response) {
            /* A status alone proves nothing: a captive portal says 200, too. */
            const auto account = response.json()["account"].string();
            if (!account) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no account"});
            call.prove("authenticated", *account);
        });
    }

    void probe(Call call) { open(std::move(call)); }

    /* A URL of the vendor's. */
    Text url(std::string_view path) const { return std::move(Text().base(endpoint).put(path)); }

    /* The content of a request. */
    struct Body {
        std::string_view type = {};
        std::string_view bytes = {};
    };

    /* Sends a request with the key, which the host puts in as it sends the request. */
    template <class Answered>
    void send(Call call, std::string_view method, Text url, Body body, Answered answered) const {
        const connector_http_header headers[] = {
            {"Authorization", 13, "Bearer {{secret:apiKey}}", 24},
            {"Content-Type", 12, body.type.data(), body.type.size()},
        };
        connector_http_request request = {};
        request.flags = CONNECTOR_HTTP_VERBATIM_BODY;
        request.method = method.data();
        request.method_length = method.size();
        request.headers = headers;
        request.header_count = body.type.empty() ? 1 : 2;
        request.body = reinterpret_cast<const uint8_t *>(body.bytes.data());
        request.body_length = body.bytes.size();
        host.send(std::move(call), request, std::move(url), std::move(answered));
    }

    /* Answers of operations, which are the vendor's as they are: JSON, or nothing, or bytes. A web page is no answer. */
    static void json(Call call, Response response) {
        if (response.body().empty()) return call.complete("null");
        if (!response.json()) return call.fail(not_json());
        call.complete(response.body());
    }
    static void nothing(Call call, Response response) {
        if (!response.body().empty() && !response.json()) return call.fail(not_json());
        call.complete();
    }
    static void bytes(Call call, Response response) { call.complete(response.body()); }

private:
    Adapter(connector::Host host, std::string endpoint) : host(host), endpoint(std::move(endpoint)) {}

    static connector::Error not_json() {
        return {CONNECTOR_PROTOCOL, "the answer is not the vendor's: it is not JSON"};
    }

    const connector::Host host;
    const std::string endpoint;
};

} // namespace

/* The operations. Their prototypes follow from their signatures: see connector/operation.h. */

@OPERATIONS@

CONNECTOR_VENDOR_ENTRY(@SNAKE@_plugin, Adapter, "@NAME@")
