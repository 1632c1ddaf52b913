// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// etcd's answers.
enum EtcdAnswer {
    /// Keys and values at a revision.
    static let range = VendorAnswer("etcd", [.object(#"with "header""#) { revision(of: $0) != nil }])

    /// A transaction that succeeded.
    static let change = VendorAnswer(
        "etcd",
        [.object(#"with "succeeded": true"#) { $0["succeeded"] == true && revision(of: $0) != nil }]
    )

    /// A user's token.
    static let token = VendorAnswer("etcd", [.object(#"with "token""#) { $0["token"]?.string?.isEmpty == false }])

    /// The revision of an answer; nil if it is not etcd's.
    static func revision(of answer: JSONValue) -> Int64? { revision(answer["header"]?["revision"]) }

    /// A revision that leaves room for a next one; nil for anything else.
    static func revision(_ value: JSONValue?) -> Int64? {
        // The gateway writes 64-bit numbers as text.
        value?.string.flatMap { Int64($0) }.flatMap { (0..<Int64.max).contains($0) ? $0 : nil }
    }

    /// The value of a key: JSON, or else the text as it is.
    static func value(of pair: JSONValue) throws(PluginError) -> JSONValue {
        guard let bytes = Base64.decode(pair["value"]?.string ?? "") else {
            throw PluginError(.protocolViolation, "etcd's answer has a value that is not Base64", domain: "etcd")
        }
        // Another client may have stored JSON that is too deep for a setting.
        let json = try? JSONValue(parsing: bytes, depthLimit: SettingsChange.depthLimit)
        let value = json ?? .string(String(decoding: bytes, as: UTF8.self))
        // Another client stored this: a setting is never null.
        return value == .null ? "null" : value
    }
}
