/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * author.hpp: a plugin in C++17 as a class. It is not part of the ABI, and needs nothing but the standard library.
 *
 *   class Rates {
 *   public:
 *       static connector::Result<std::unique_ptr<Rates>> create(connector::Host host, connector::Json config);
 *       void open(connector::Call call);   // completes with evidence; also probe, close and cancel(uint64_t), if there are any
 *   };
 *   CONNECTOR_ENTRY(rates_plugin, Rates)
 *
 * An operation is an exported function whose prototype follows from its signature (operation.h); its body is
 * connector::perform, or connector::answer if it is synchronous. No exception leaves an operation: it becomes an
 * error. A class is used from several threads at once unless the manifest says otherwise.
 */
#ifndef CONNECTOR_AUTHOR_HPP
#define CONNECTOR_AUTHOR_HPP

#include "author.h"
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace connector {

/** Why a call failed. */
struct Error {
    /** One of CONNECTOR_STATUSES, not CONNECTOR_OK. */
    int32_t status = CONNECTOR_FAILED;
    /** One sentence for a person, never a secret; cut to 967 bytes. */
    std::string message;
    /** Whether the same call may succeed later; by default what the status usually means. */
    std::optional<bool> retryable = std::nullopt;
    std::chrono::nanoseconds retry_after{0};
    /** The source of the failure: by default the vendor's name. */
    std::string domain = {};
    /** The vendor's own number, such as the HTTP status. */
    int32_t detail = 0;

    /** Fills in an error of the ABI, if there is one; returns the status. */
    int32_t write(connector_error *error, const char *vendor = "") const noexcept {
        connector_error copy = connector_error_of(domain.empty() ? vendor : domain.c_str());
        connector_fail(&copy, status == CONNECTOR_OK ? CONNECTOR_FAILED : status, "%s", message.c_str());
        if (retryable) copy.retryable = *retryable;
        copy.retry_after_ns = retry_after.count() > 0 ? static_cast<uint64_t>(retry_after.count()) : 0;
        copy.detail = detail;
        if (error != nullptr && error->struct_size >= sizeof copy) {
            copy.struct_size = error->struct_size;
            *error = copy;
        }
        return copy.code;
    }
};

/** A value, or the reason why there is none: what std::expected is in C++23. */
template <class Value> class [[nodiscard]] Result {
public:
    Result(Value value) : content(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    /** Only if there is a value. */
    Value &operator*() noexcept { return *std::get_if<0>(&content); }
    const Value &operator*() const noexcept { return *std::get_if<0>(&content); }
    Value *operator->() noexcept { return std::get_if<0>(&content); }
    const Value *operator->() const noexcept { return std::get_if<0>(&content); }
    /** Only if there is no value. */
    const Error &error() const noexcept { return *std::get_if<1>(&content); }

private:
    std::variant<Value, Error> content;
};

/** One value of a JSON text, borrowed: valid as long as the text. Its functions throw only for want of memory. */
class Json {
public:
    Json() noexcept : value(connector_json_none()) {}
    explicit Json(connector_json value) noexcept : value(value) {}

    /** The value of a whole text; nothing if connector_json_parse finds none. */
    static Json parse(std::string_view text) noexcept { return Json(connector_json_parse(text.data(), text.size())); }

    /** Whether there is a value. */
    explicit operator bool() const noexcept { return value.text != nullptr; }
    bool is_object() const noexcept { return connector_json_begins(value, '{'); }
    bool is_array() const noexcept { return connector_json_begins(value, '['); }
    bool is_string() const noexcept { return connector_json_begins(value, '"'); }
    bool is_number() const noexcept { return connector_json_is_number(value); }
    bool is_null() const noexcept { return connector_json_begins(value, 'n'); }

    /** The member of an object; nothing if there is none. */
    Json operator[](std::string_view name) const noexcept {
        connector_json key, part;
        std::size_t position = 0;
        if (!is_object()) return Json();
        while (connector_json_next(value, &position, &key, &part)) {
            if (connector_json_equals(key, name.data(), name.size())) return Json(part);
        }
        return Json();
    }

    /** Calls `body(key, value)` for each part of an array or object; the key is nothing in an array. */
    template <class Body> void for_each(Body &&body) const {
        connector_json key, part;
        std::size_t position = 0;
        while (connector_json_next(value, &position, &key, &part)) body(Json(key), Json(part));
    }

    std::optional<std::string> string() const {
        if (!is_string()) return std::nullopt;
        std::string text;
        std::size_t at = 1, count;
        char bytes[4];
        while ((count = connector_json_character(value, &at, bytes)) > 0) text.append(bytes, count);
        return text;
    }
    std::optional<double> number() const noexcept {
        double number;
        return connector_json_double(value, &number) ? std::optional<double>(number) : std::nullopt;
    }
    std::optional<int64_t> integer() const noexcept {
        int64_t number;
        return connector_json_int64(value, &number) ? std::optional<int64_t>(number) : std::nullopt;
    }
    std::optional<bool> boolean() const noexcept {
        if (connector_json_begins(value, 't')) return true;
        return connector_json_begins(value, 'f') ? std::optional<bool>(false) : std::nullopt;
    }
    /** The JSON text. */
    std::string_view text() const noexcept { return {value.text == nullptr ? "" : value.text, value.length}; }
    connector_json raw() const noexcept { return value; }

private:
    connector_json value;
};

/** A growing text, for JSON and URLs. Out of memory it is incomplete, which every function that takes it reports. */
class Text {
public:
    Text() noexcept : content{nullptr, 0, 0, 0} {}
    explicit Text(std::string_view start) noexcept : Text() { put(start); }
    Text(Text &&other) noexcept : content(std::exchange(other.content, connector_text{nullptr, 0, 0, 0})) {}
    Text &operator=(Text &&other) noexcept {
        std::swap(content, other.content);
        return *this;
    }
    ~Text() { connector_text_free(&content); }

    /** Appends text as it is. */
    Text &put(std::string_view part) noexcept { return connector_text_bytes(&content, part.data(), part.size()), *this; }
    /** Appends the URL of a server without the slashes at its end, so that a path that begins with one may follow. */
    Text &base(std::string_view url) noexcept {
        while (!url.empty() && url.back() == '/') url.remove_suffix(1);
        return put(url);
    }
    /** Appends text percent-encoded, for a part of a URL; see connector_text_encode. */
    Text &encode(std::string_view part) noexcept {
        return connector_text_encode(&content, part.data(), part.size()), *this;
    }
    /** Appends a name and its value, percent-encoded, to the query of a URL; nothing if the value is null. */
    Text &query(const char *name, const char *value, uint64_t length) noexcept {
        return connector_text_query(&content, name, value, static_cast<std::size_t>(length)), *this;
    }
    Text &query(const char *name, uint64_t number) noexcept {
        return connector_text_query_number(&content, name, number), *this;
    }
    /** Appends JSON, with a comma before it if it follows a value. */
    Text &open(char bracket) noexcept { return connector_text_open(&content, bracket), *this; }
    Text &close(char bracket) noexcept { return connector_text_close(&content, bracket), *this; }
    Text &key(std::string_view name) noexcept { return string(name).put(":"); }
    Text &string(std::string_view part) noexcept {
        return connector_text_string(&content, part.data(), part.size()), *this;
    }
    Text &number(double number) noexcept { return connector_text_double(&content, number), *this; }
    Text &integer(int64_t number) noexcept { return connector_text_int64(&content, number), *this; }
    Text &json(Json value) noexcept { return connector_text_json(&content, value.raw()), *this; }

    std::string_view view() const noexcept { return {content.bytes == nullptr ? "" : content.bytes, content.length}; }
    connector_text *raw() noexcept { return &content; }
    const connector_text *raw() const noexcept { return &content; }

private:
    connector_text content;
};

/** A response to a request, borrowed: valid until the function that received it returns. */
class Response {
public:
    explicit Response(const connector_http_response *response) noexcept : response(response) {}
    uint32_t status() const noexcept { return response->status; }
    std::string_view body() const noexcept {
        if (response->body == nullptr) return {};
        return {reinterpret_cast<const char *>(response->body), static_cast<std::size_t>(response->body_length)};
    }
    Json json() const noexcept { return Json::parse(body()); }
    /** Whether the body is a web page, which no vendor's API returns. */
    bool is_page() const noexcept { return connector_is_page(response); }
    std::optional<std::string_view> header(const char *name) const noexcept {
        std::size_t length = 0;
        const char *value = connector_header(response, name, &length);
        return value == nullptr ? std::nullopt : std::optional<std::string_view>({value, length});
    }

private:
    const connector_http_response *response;
};

#if defined(__cpp_exceptions)
/** The first call that an exception drops on its way out of a body, which then completes with what the exception says. */
class __attribute__((visibility("hidden"))) Thrown {
public:
    Thrown() noexcept : outer(std::exchange(current(), this)), exceptions(std::uncaught_exceptions()) {}
    Thrown(const Thrown &) = delete;
    Thrown &operator=(const Thrown &) = delete;
    /** Completes a call whose exception the body has caught. */
    ~Thrown() {
        current() = outer;
        complete("the plugin dropped the call");
    }

    /** Takes a call that is being dropped over, if an exception drops it and there is none yet. */
    static bool take(const connector_gate *gate, uint64_t operation) noexcept {
        Thrown *thrown = current();
        if (thrown == nullptr || thrown->gate != nullptr) return false;
        if (std::uncaught_exceptions() <= thrown->exceptions) return false;
        thrown->gate = gate;
        thrown->operation = operation;
        return true;
    }
    /** Completes the call, if there is one. */
    void complete(const char *reason) noexcept {
        if (gate == nullptr) return;
        connector_error error = connector_error_of(gate->vendor_static);
        connector_fail(&error, CONNECTOR_FAILED, "%s", reason);
        connector_complete_failure(std::exchange(gate, nullptr)->host, operation, &error);
    }

private:
    /** The innermost body that this thread runs. */
    static Thrown *&current() noexcept {
        static thread_local Thrown *innermost = nullptr;
        return innermost;
    }

    Thrown *outer;
    int exceptions;
    const connector_gate *gate = nullptr;
    uint64_t operation = 0;
};
#endif

/**
 * A pending call. Complete it once; one that is dropped fails, with what the exception says that dropped it, and completing
 * it again has no effect.
 */
class [[nodiscard]] Call {
public:
    Call(const connector_gate *gate, const connector_call *call) noexcept
        : gate(gate), operation(call->operation), deadline_ns(call->deadline_ns) {}
    Call(Call &&other) noexcept
        : gate(std::exchange(other.gate, nullptr)), operation(other.operation), deadline_ns(other.deadline_ns) {}
    Call &operator=(Call &&) = delete;
    ~Call() {
        if (gate == nullptr) return;
#if defined(__cpp_exceptions)
        if (Thrown::take(gate, operation)) return;
#endif
        fail({CONNECTOR_FAILED, "the plugin dropped the call"});
    }

    /** Completes without a result. */
    void complete() noexcept { succeed(nullptr, 0); }
    /** Completes with a string or JSON, or with bytes. */
    void complete(std::string_view result) noexcept {
        /* An empty result is still a result, so it needs an address. */
        succeed(result.data() == nullptr ? "" : result.data(), result.size());
    }
    /** Completes with a text, and frees its bytes; it may be written in place, as in `complete(Text().open('[').close(']'))`. */
    void complete(Text &result) noexcept {
        if (gate == nullptr) return;
        connector_complete_text(std::exchange(gate, nullptr)->host, operation, result.raw());
    }
    void complete(Text &&result) noexcept { complete(result); }
    /** Completes `open` or `probe` with one proof. */
    void prove(const char *kind, const std::string &detail) noexcept {
        if (gate == nullptr) return;
        connector_complete_evidence(std::exchange(gate, nullptr)->host, operation, kind, detail.c_str());
    }
    /** Completes as failed. */
    void fail(const Error &reason) noexcept {
        if (gate == nullptr) return;
        connector_error error = connector_error_of("");
        reason.write(&error, gate->vendor_static);
        fail(error);
    }
    void fail(const connector_error &error) noexcept {
        if (gate == nullptr) return;
        connector_complete_failure(std::exchange(gate, nullptr)->host, operation, &error);
    }

    uint64_t identifier() const noexcept { return operation; }
    uint64_t deadline() const noexcept { return deadline_ns; }

private:
    void succeed(const char *bytes, std::size_t length) noexcept {
        if (gate == nullptr) return;
        const connector_host *host = std::exchange(gate, nullptr)->host;
        host->complete(host->context, operation, CONNECTOR_OK, reinterpret_cast<const uint8_t *>(bytes), length, nullptr);
    }

    const connector_gate *gate;
    uint64_t operation;
    uint64_t deadline_ns;
};

/** Runs a body, and turns what it throws into an error. */
template <class Body, class Failed> void guarded(Body &&body, Failed &&failed) noexcept {
#if defined(__cpp_exceptions)
    try {
        body();
    } catch (const std::exception &exception) {
        failed(exception.what());
    } catch (...) {
        failed("an unknown exception");
    }
#else
    (void)failed;
    body();
#endif
}

/** Runs a body that a call was handed to, and completes the call with what it throws. */
template <class Body> void guarded_call(Body &&body) noexcept {
#if defined(__cpp_exceptions)
    Thrown thrown;
    guarded(body, [&](const char *reason) { thrown.complete(reason); });
#else
    body();
#endif
}

/** The host as one instance sees it. */
class Host {
public:
    explicit Host(const connector_gate *gate) noexcept : gate(gate) {}

    /** Sends a GET; see `send`. */
    template <class Answered> void get(Call call, const Text &url, Answered answered) const {
        connector_http_request request = {};
        request.method = "GET";
        request.method_length = 3;
        send(std::move(call), request, url, std::move(answered));
    }

    /**
     * Sends a request for a call, and hands the call and the response to `answered(Call, Response)`, on a thread of the
     * host, if the response is HTTP 2xx. Any other end completes the call as failed. `request` needs no URL, size or
     * deadline. The manifest must require http/1, and name clock/1 for a Retry-After that is a date. When the host gives the
     * call up, it cancels the request: see connector_send.
     */
    template <class Answered>
    void send(Call call, connector_http_request request, const Text &url, Answered answered) const {
        struct Exchange {
            const connector_gate *gate;
            Call call;
            Answered answered;
        };
        const uint64_t deadline = call.deadline();
        request.during = call.identifier();
        auto exchange = std::make_unique<Exchange>(Exchange{gate, std::move(call), std::move(answered)});
        connector_error error = connector_error_of("");
        const connector_http_done done = [](void *user, int32_t status, const connector_http_response *response,
                                            const connector_error *reason) {
            const std::unique_ptr<Exchange> exchange(static_cast<Exchange *>(user));
            if (status != CONNECTOR_OK) {
                connector_error error = connector_error_of("");
                connector_fail(&error, status, "the host answered with status %d", static_cast<int>(status));
                exchange->call.fail(reason == nullptr ? error : *reason);
            } else if (!connector_is_success(response->status)) {
                exchange->call.fail(connector_gate_error(exchange->gate, response));
            } else {
                guarded_call([&] { exchange->answered(std::move(exchange->call), Response(response)); });
            }
        };
        const int32_t status = connector_gate_send(gate, &request, url.raw(), deadline, done, exchange.get(), &error);
        if (status == CONNECTOR_OK) return (void)exchange.release();
        /* `done` never runs for a request that was refused. */
        if (error.code == CONNECTOR_OK) connector_fail(&error, status, "the host refused the request");
        exchange->call.fail(error);
    }

    const connector_gate *raw() const noexcept { return gate; }

private:
    const connector_gate *gate;
};

/** What the host holds: the object, and what every gate has. */
template <class Gate> struct Instance {
    connector_gate gate = {};
    std::unique_ptr<Gate> value;
};

/** Performs an asynchronous operation: `body(Gate &, Call)`. */
template <class Gate, class Body>
int32_t perform(void *instance, const connector_call *call, connector_error *error, Body &&body) noexcept {
    (void)error;
    auto &self = *static_cast<Instance<Gate> *>(instance);
    guarded_call([&] { body(*self.value, Call(&self.gate, call)); });
    return CONNECTOR_OK;
}

/** Answers a synchronous operation: `body(Gate &)` returns a Result, whose value goes to `write(value)`. */
template <class Gate, class Body, class Write>
int32_t answer(void *instance, connector_error *error, Body &&body, Write &&write) noexcept {
    auto &self = *static_cast<Instance<Gate> *>(instance);
    int32_t status = CONNECTOR_FAILED;
    guarded(
        [&] {
            auto result = body(*self.value);
            if (!result) return (void)(status = result.error().write(error, self.gate.vendor_static));
            write(*result);
            status = CONNECTOR_OK;
        },
        [&](const char *reason) { connector_fail(error, status, "%s", reason); });
    return status;
}

template <class Gate, class = void> struct HasProbe : std::false_type {};
template <class Gate> struct HasProbe<Gate, std::void_t<decltype(&Gate::probe)>> : std::true_type {};
template <class Gate, class = void> struct HasClose : std::false_type {};
template <class Gate> struct HasClose<Gate, std::void_t<decltype(&Gate::close)>> : std::true_type {};
template <class Gate, class = void> struct HasCancel : std::false_type {};
template <class Gate> struct HasCancel<Gate, std::void_t<decltype(&Gate::cancel)>> : std::true_type {};

template <class Gate>
int32_t create(const char *vendor_static, const connector_host *host, const char *config, uint64_t length, void **instance,
               connector_error *error) noexcept {
    int32_t status = CONNECTOR_FAILED;
    guarded(
        [&] {
            auto self = std::make_unique<Instance<Gate>>();
            self->gate = {host, nullptr, nullptr, vendor_static};
            auto made = Gate::create(Host(&self->gate), Json::parse({config, static_cast<std::size_t>(length)}));
            if (!made) return (void)(status = made.error().write(error, vendor_static));
            self->value = std::move(*made);
            *instance = self.release();
            status = CONNECTOR_OK;
        },
        [&](const char *reason) { status = connector_fail(error, CONNECTOR_FAILED, "%s", reason); });
    return status;
}

/**
 * Defines the entry function of a plugin whose gates are of a class. The vendor's name, which the messages and the domain of errors
 * have, is the name of the class.
 */
#define CONNECTOR_ENTRY(symbol, Gate) CONNECTOR_VENDOR_ENTRY(symbol, Gate, #Gate)

/** Defines the entry function like CONNECTOR_ENTRY; `vendor` is a literal. */
#define CONNECTOR_VENDOR_ENTRY(symbol, Gate, vendor)                                                                   \
    CONNECTOR_EXPORT const connector_plugin *symbol(void) {                                                            \
        static const connector_plugin plugin = ::connector::table<Gate>(                                               \
            [](const connector_host *host, const char *config, uint64_t length, void **instance,                       \
               connector_error *error) -> int32_t {                                                                    \
                return ::connector::create<Gate>(vendor, host, config, length, instance, error);                       \
            });                                                                                                        \
        return &plugin;                                                                                                \
    }

template <class Gate> connector_plugin table(decltype(connector_plugin::create) create) noexcept {
    connector_plugin plugin = {};
    plugin.struct_size = sizeof plugin;
    plugin.abi_version = CONNECTOR_ABI_VERSION;
    plugin.create = create;
    plugin.open = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
        return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.open(std::move(call)); });
    };
    if constexpr (HasProbe<Gate>::value) {
        plugin.probe = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
            return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.probe(std::move(call)); });
        };
    }
    if constexpr (HasClose<Gate>::value) {
        plugin.close = [](void *instance, const connector_call *call, connector_error *error) -> int32_t {
            return perform<Gate>(instance, call, error, [](Gate &gate, Call call) { gate.close(std::move(call)); });
        };
    }
    if constexpr (HasCancel<Gate>::value) {
        plugin.cancel = [](void *instance, uint64_t operation) {
            guarded([&] { static_cast<Instance<Gate> *>(instance)->value->cancel(operation); }, [](const char *) {});
        };
    }
    plugin.destroy = [](void *instance) { delete static_cast<Instance<Gate> *>(instance); };
    return plugin;
}

} // namespace connector

#endif
