// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The document that `connector-host plan --json` prints.
extension Plan {
    /// The document.
    public var json: JSONValue {
        var object: JSONObject = [
            "version": .integer(Self.version), "running": .string(running), "target": .string(target),
            "changes": .array(changes.map(\.json)), "kept": .array(kept.map(JSONValue.string)),
        ]
        if !settings.isEmpty { object["settings"] = .array(settings.map(\.json)) }
        if !restarts.isEmpty { object["restart"] = .array(restarts.map(JSONValue.string)) }
        object["basis"] = basis?.json
        return .object(object)
    }

    /// Reads the document; nil if it is not one of this version.
    public init?(json: JSONValue) {
        guard json["version"]?.integer == Self.version, let running = json["running"]?.string,
            let target = json["target"]?.string, let elements = json["changes"]?.array
        else { return nil }
        self.init(running: running, target: target)
        changes = elements.compactMap(Change.init(json:))
        guard changes.count == elements.count else { return nil }
        kept = json["kept"]?.texts ?? []
        settings = json["settings"]?.array?.compactMap(Field.init(json:)) ?? []
        restarts = json["restart"]?.texts ?? []
        basis = json["basis"].flatMap(Basis.init(json:))
    }
}

extension Plan {
    /// Reads the document of a plan, with what it was made from, from a file.
    package init(reading file: String) throws(ConnectorError) {
        let text = try SmallFile(named: file, limit: 64 << 20).bytes
        guard let plan = Plan(json: try JSONValue(parsing: text, file: file)), plan.basis != nil else {
            throw ConnectorError(
                .invalid,
                "\(file) is not a plan of this release",
                fix: "write one with connector-host plan --json"
            )
        }
        self = plan
    }
}

extension Plan.Change {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "path": .string(path), "change": .string(kind.rawValue), "leaf": .bool(isLeaf),
            "cost": .string(cost.rawValue),
        ]
        object["was"] = was.map(JSONValue.string)
        if !fields.isEmpty { object["fields"] = .array(fields.map(\.json)) }
        object["events"] = events.map {
            ["queued": .integer(Int64($0.queued)), "outcome": .string($0.outcome.rawValue)]
        }
        if !wants.isEmpty {
            object["wants"] = [
                "hosts": .array(wants.hosts.map(JSONValue.string)),
                "services": .array(wants.services.map(JSONValue.string)),
                "capabilities": .array(wants.capabilities.map(JSONValue.string)),
            ]
        }
        object["image"] = image.map { image in
            var object: JSONObject = ["path": .string(image.path), "bytes": .integer(Int64(image.size))]
            if let left = image.staticTLSLeft {
                object["staticTLS"] = .integer(Int64(image.staticTLS))
                object["staticTLSLeft"] = .integer(Int64(left))
            }
            return .object(object)
        }
        return .object(object)
    }

    fileprivate init?(json: JSONValue) {
        guard let path = json["path"]?.string, let kind = json["change"]?.string, let cost = json["cost"]?.string else {
            return nil
        }
        self.init(path: path, kind: Plan.Kind(rawValue: kind), isLeaf: json["leaf"]?.bool ?? true)
        self.cost = Plan.Cost(rawValue: cost)
        was = json["was"]?.string
        fields = json["fields"]?.array?.compactMap(Plan.Field.init(json:)) ?? []
        if let queued = json["events"]?["queued"]?.integer, let outcome = json["events"]?["outcome"]?.string {
            events = Plan.Events(queued: Int(clamping: queued), outcome: .init(rawValue: outcome))
        }
        wants.hosts = json["wants"]?["hosts"]?.texts ?? []
        wants.services = json["wants"]?["services"]?.texts ?? []
        wants.capabilities = json["wants"]?["capabilities"]?.texts ?? []
        if let path = json["image"]?["path"]?.string {
            image = Plan.Image(
                path: path,
                size: json["image"]?["bytes"]?.integer.map { Int(clamping: $0) } ?? 0,
                staticTLS: json["image"]?["staticTLS"]?.integer.map { Int(clamping: $0) } ?? 0,
                staticTLSLeft: json["image"]?["staticTLSLeft"]?.integer.map { Int(clamping: $0) }
            )
        }
    }
}

extension Plan.Field {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["name": .string(name)]
        object["from"] = from.map(JSONValue.string)
        object["to"] = to.map(JSONValue.string)
        return .object(object)
    }

    fileprivate init?(json: JSONValue) {
        guard let name = json["name"]?.string else { return nil }
        self.init(name: name, from: json["from"]?.string, to: json["to"]?.string)
    }
}

extension Plan.Basis {
    /// The document, which ``init(json:)`` reads.
    package var json: JSONValue {
        func object(_ digests: [String: String]) -> JSONValue {
            .object(JSONObject(digests.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }))
        }
        return [
            "running": .string(running), "files": object(files), "variables": object(variables),
            "secrets": object(secrets), "images": object(images),
        ]
    }

    /// Reads the document; nil if a member is missing.
    package init?(json: JSONValue) {
        func digests(_ name: String) -> [String: String]? {
            json[name]?.object?.members.reduce(into: [:]) { $0[$1.name] = $1.value.string }
        }
        guard let running = json["running"]?.string, let files = digests("files"), let variables = digests("variables"),
            let secrets = digests("secrets"), let images = digests("images")
        else { return nil }
        self.init(running: running, files: files, variables: variables, secrets: secrets, images: images)
    }
}

extension JSONValue {
    /// The texts of an array.
    fileprivate var texts: [String] { array?.compactMap(\.string) ?? [] }
}
