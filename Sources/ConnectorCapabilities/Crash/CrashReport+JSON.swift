// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

extension CrashReport {
    /// The content that an operation requires of its report.
    public enum Kind: Sendable {
        /// At least one exception.
        case exception
        /// A message.
        case message
        /// Either one.
        case any
    }

    /// Reads a report and checks the members that the operation needs. Members outside the model are dropped.
    ///
    /// - Parameters:
    ///   - json: The report, which must be an object.
    ///   - kind: The content that the operation requires.
    ///   - path: The name of the report in errors.
    /// - Throws: A ``ConnectorError`` of code `invalid` that names the member.
    public init(json: JSONValue, as kind: Kind = .any, path: String = "report") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try json.checkReadable(named: path)
        let exceptions = try reader.models("exceptions") { json, path throws(ConnectorError) in
            try CrashException(json: json, path: path)
        }
        let level = try reader.word("level", as: Level.self) ?? (exceptions.isEmpty ? .info : .error)
        self.init(level: level, message: try reader.string("message"), exceptions: exceptions)
        if let given = try reader.string("id") {
            id = given.lowercased().filter { $0 != "-" }
            guard id.utf8.count == 32, id.utf8.allSatisfy(\.isLowercaseHexDigit) else {
                throw ConnectorError(.invalid, "\(path).id must be a UUID, with or without hyphens")
            }
        }
        timestamp = try reader.timestamp("timestamp")
        isHandled = try reader.bool("handled") ?? true
        for member in try reader.object("tags").members {
            guard let text = member.value.string else {
                throw ConnectorError(.invalid, "\(path).tags.\(member.name) must be a string, not \(member.value.kind)")
            }
            tags[member.name] = text
        }
        if let user = reader.object["user"], user != .null {
            self.user = try CrashUser(json: user, path: "\(path).user")
        }
        breadcrumbs = try reader.models("breadcrumbs") { json, path throws(ConnectorError) in
            try Breadcrumb(json: json, path: path)
        }
        release = try reader.string("release")
        environment = try reader.string("environment")
        fingerprint = try reader.strings("fingerprint")
        context = try reader.object("context")
        let hasMessage = message?.isEmpty == false
        switch kind {
        case .exception where exceptions.isEmpty:
            throw ConnectorError(.invalid, "\(path).exceptions is missing: there must be at least one")
        case .message where !hasMessage:
            throw ConnectorError(.invalid, "\(path).message is missing")
        case .any where exceptions.isEmpty && !hasMessage:
            throw ConnectorError(.invalid, "\(path).exceptions or \(path).message must be given")
        default: break
        }
    }

    /// Throws if the report is not one that ``init(json:as:path:)`` reads, as the adapters do.
    public func check(as kind: Kind = .any) throws(ConnectorError) { _ = try CrashReport(json: json, as: kind) }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object: JSONObject = ["id": .string(id), "level": .string(level.rawValue)]
        object.set("timestamp", timestamp?.exactText)
        object.set("message", message)
        object.set("exceptions", exceptions.map(\.json))
        if !isHandled { object["handled"] = false }
        object.set("tags", JSONObject(tags.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        if let user { object["user"] = user.json }
        object.set("breadcrumbs", breadcrumbs.map(\.json))
        object.set("release", release)
        object.set("environment", environment)
        object.set("fingerprint", fingerprint.map { .string($0) })
        object.set("context", context)
        return .object(object)
    }
}
