// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The connector's `config` with the manifest's defaults, already validated.
public struct PluginConfiguration: Sendable, Hashable {
    /// Every field that has a value, by name.
    public var fields: JSONObject

    /// Creates a configuration from its fields, for tests.
    public init(_ fields: JSONObject) {
        self.fields = fields
    }

    /// A field's value of any type; nil if it has none.
    public subscript(name: String) -> JSONValue? {
        fields[name]
    }

    /// A string.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or another type.
    public func string(_ name: String) throws(PluginError) -> String {
        try required(name, optionalString(name), "a string")
    }

    /// A string; nil if the field has no value.
    public func optionalString(_ name: String) -> String? {
        fields[name]?.string
    }

    /// An absolute `http` or `https` URL, without a trailing slash.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or is not such a URL.
    public func url(_ name: String) throws(PluginError) -> HTTPURL {
        let text = try string(name)
        guard let url = HTTPURL(text) else {
            throw PluginError(.invalid, "\(name) must be an absolute http or https URL")
        }
        return url
    }

    /// A whole number.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or another type.
    public func integer(_ name: String) throws(PluginError) -> Int64 {
        try required(name, fields[name]?.integer, "an integer")
    }

    /// A number.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or another type.
    public func number(_ name: String) throws(PluginError) -> Double {
        try required(name, fields[name]?.number, "a number")
    }

    /// A boolean.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or another type.
    public func boolean(_ name: String) throws(PluginError) -> Bool {
        try required(name, fields[name]?.bool, "true or false")
    }

    /// A duration, written as `250ms`, `5s`, `2m` or `1h`.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value or is not a duration.
    public func duration(_ name: String) throws(PluginError) -> Duration {
        try required(name, optionalString(name).flatMap(Duration.init(parsing:)), "a duration such as \"5s\"")
    }

    /// The placeholder of a secret.
    ///
    /// - Throws: A ``PluginError`` that names the field if it has no value.
    public func secret(_ name: String) throws(PluginError) -> SecretPlaceholder {
        try required(name, optionalSecret(name), "a secret")
    }

    /// The placeholder of a secret; nil if the field has no value.
    public func optionalSecret(_ name: String) -> SecretPlaceholder? {
        fields[name].map { _ in SecretPlaceholder(field: name) }
    }

    private func required<Value>(_ name: String, _ value: Value?, _ kind: String) throws(PluginError) -> Value {
        guard let value else {
            throw PluginError(.invalid, "the configuration field \"\(name)\" must be \(kind)")
        }
        return value
    }
}
