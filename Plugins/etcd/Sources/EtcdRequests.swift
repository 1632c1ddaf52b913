// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import ConnectorManifest

/// The requests to etcd's JSON gateway (etcd.io/docs/v3.5/dev-guide/api_grpc_gateway).
struct EtcdRequests: Sendable {
    /// The credentials of a user.
    struct User: Sendable {
        var name: String
        var password: SecretPlaceholder
    }

    private let endpoint: HTTPURL
    private let prefix: String
    private let user: User?

    init(endpoint: HTTPURL, prefix: String, user: User?) throws(PluginError) {
        guard !prefix.isEmpty else {
            throw PluginError(.invalid, "prefix is empty; name what the keys of the settings start with")
        }
        (self.endpoint, self.prefix, self.user) = (endpoint, prefix, user)
    }

    /// Asks for a token; nil without a user.
    var token: HTTPRequest? {
        guard let user else { return nil }
        let body: JSONValue = ["name": .string(user.name), "password": .string(user.password.text)]
        var request = HTTPRequest(.post, endpoint.appending(path: "/v3/auth/authenticate"), json: body)
        request.hasPlaceholdersInBody = true
        return request
    }

    /// Asks for every key below the prefix.
    var all: HTTPRequest { request("/v3/kv/range", .object(range)) }

    /// Asks for the key of one setting.
    func one(_ name: String) -> HTTPRequest { request("/v3/kv/range", ["key": .string(Self.encoded(prefix + name))]) }

    /// Changes several keys in one transaction.
    func change(_ change: SettingsChange) -> HTTPRequest {
        let operations = change.values.members.map { member -> JSONValue in
            let key = JSONValue.string(Self.encoded(prefix + member.name))
            if member.value == .null { return ["requestDeleteRange": ["key": key]] }
            return ["requestPut": ["key": key, "value": .string(Base64.encode(member.value.utf8()))]]
        }
        return request("/v3/kv/txn", ["success": .array(operations)])
    }

    /// Follows every change below the prefix.
    func watch(after revision: Int64) -> HTTPRequest {
        var create = range
        create["start_revision"] = .string("\(revision + 1)")
        create["progress_notify"] = true
        return request("/v3/watch", ["create_request": .object(create)])
    }

    /// The setting that a key stores; nil for any other key.
    func setting(of key: String) -> String? {
        guard let bytes = Base64.decode(key), bytes.starts(with: prefix.utf8) else { return nil }
        let name = String(decoding: bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
        return (try? SettingsChange.checkKey(name)) == nil ? nil : name
    }

    /// The range of keys that begin with the prefix: the prefix, and the first key after all of them.
    private var range: JSONObject {
        var end = Array(prefix.utf8)
        // UTF-8 never contains the byte 0xFF, so incrementing the last byte cannot overflow.
        if let last = end.popLast() { end.append(last + 1) }
        return ["key": .string(Self.encoded(prefix)), "range_end": .string(Base64.encode(end))]
    }

    private func request(_ path: StaticString, _ body: JSONValue) -> HTTPRequest {
        HTTPRequest(.post, endpoint.appending(path: path), json: body)
    }

    private static func encoded(_ text: String) -> String { Base64.encode(Array(text.utf8)) }
}
