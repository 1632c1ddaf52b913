/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * rates.cpp: exchange rates of openexchangerates.org, the adapter of ../Sources/rates in C++.
 */
#include <algorithm>
#include <connector/author.hpp>

CONNECTOR_MANIFEST({
    "manifest": 1,
    "id": "rates-cpp",
    "version": "1.0.0",
    "abi": [1, 1],
    "entry": "rates_plugin",
    "language": "c++",
    "documentation": "Exchange rates of openexchangerates.org.",
    "services": {"required": ["http/1", "clock/1"]},
    "egress": ["{endpoint}"],
    "configuration": {
        "endpoint": {"type": "url", "default": "https://openexchangerates.org/api"},
        "appId": {"type": "string", "required": true, "secret": true, "documentation": "The App ID of the account."}
    },
    "capabilities": {
        "rates/1": {
            "rate": {
                "symbol": "rates_rate",
                "signature": "(currency: string) async -> json",
                "documentation": "What a US dollar is in a currency, such as EUR."
            }
        }
    }
});

namespace {

using connector::Call;
using connector::Response;

/* One gate. It is never changed after `create`, so that any thread may read it. */
class rates {
public:
    static connector::Result<std::unique_ptr<rates>> create(connector::Host host, connector::Json config) {
        auto endpoint = config["endpoint"].string();
        if (!endpoint) return connector::Error{CONNECTOR_INVALID, "endpoint is not a string"};
        return std::unique_ptr<rates>(new rates(host, *endpoint));
    }

    /* Asks what is left of the account's quota, which proves the key and costs nothing. */
    void open(Call call) {
        connector::Text url;
        url.base(endpoint).put("/usage.json?app_id={{secret:appId}}");
        host.get(std::move(call), std::move(url), [](Call call, Response response) {
            /* A status alone proves nothing: a captive portal says 200, too. */
            const auto rest = response.json()["data"]["usage"]["requests_remaining"].integer();
            if (!rest) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no requests_remaining"});
            call.prove("authenticated", "requests left: " + std::to_string(*rest));
        });
    }

    void probe(Call call) { open(std::move(call)); }

    void rate(Call call, std::string_view currency) {
        const auto is_capital = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
        if (currency.size() != 3 || !std::all_of(currency.begin(), currency.end(), is_capital)) {
            return call.fail({CONNECTOR_INVALID, "a currency has three capital letters, such as EUR"});
        }
        connector::Text url;
        /* The host puts the secret in as it sends the request. */
        url.base(endpoint).put("/latest.json?symbols=").encode(currency).put("&app_id={{secret:appId}}");
        host.get(std::move(call), std::move(url), [currency = std::string(currency)](Call call, Response response) {
            const auto table = response.json()["rates"];
            const auto rate = table[currency];
            if (!table.is_object()) return call.fail({CONNECTOR_PROTOCOL, "the answer is not the vendor's: it has no rates"});
            if (!rate.is_number()) return call.fail({CONNECTOR_NOT_FOUND, "there is no rate of " + currency});
            call.complete(rate.text());
        });
    }

private:
    rates(connector::Host host, std::string endpoint) : host(host), endpoint(std::move(endpoint)) {}

    const connector::Host host;
    const std::string endpoint;
};

} // namespace

CONNECTOR_EXPORT int32_t rates_rate(void *instance, const connector_call *call, const char *currency, uint64_t length,
                                    connector_error *error) {
    return connector::perform<rates>(instance, call, error, [&](rates &self, Call call) {
        self.rate(std::move(call), {currency, static_cast<std::size_t>(length)});
    });
}

CONNECTOR_ENTRY(rates_plugin, rates)
