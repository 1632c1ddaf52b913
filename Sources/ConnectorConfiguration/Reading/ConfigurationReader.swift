// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform

/// Reads and validates a configuration file and the files it includes, without looking up any plugin.
struct ConfigurationReader {
    /// Collects errors.
    var json: JSONReader
    /// The directory of the file being read.
    var base: BaseDirectory
    var variables: VariableExpansion
    /// The files read so far.
    var inclusions: Inclusions
    /// The number of connectors read so far.
    private var count = 0
    /// Whether the connector being read is disabled, by its own `enabled` or by a composite above.
    private var isDisabled = false
    /// Where the plugin of the connector being read runs unless it says otherwise: inherited from the composite above,
    /// or the file.
    private var isolation = Isolation()
    /// The circuit breaker of the connector being read unless it says otherwise: inherited from the composite above.
    private var breaker: BreakerPolicy?

    /// Creates a reader for the main file's text.
    init(text: [UInt8], file: String, base: BaseDirectory, environment: Configuration.Environment) {
        json = JSONReader(text: text, file: file)
        json.objectNames = Self.objectNames
        self.base = base
        variables = VariableExpansion(environment)
        inclusions = Inclusions(file: file, size: text.count)
    }

    /// Creates a reader that adds connectors to a configuration.
    init(addingTo configuration: Configuration, environment: Configuration.Environment) {
        json = JSONReader(configuration.texts)
        json.objectNames = Self.objectNames
        base = configuration.baseDirectory
        variables = VariableExpansion(environment)
        inclusions = Inclusions(file: configuration.path, size: 0)
        count = configuration.allConnectors.count
    }

    /// Reads connectors that are in no file, and appends them to the roots of the tree, as if another file were included.
    mutating func appending(_ added: [JSONValue], to roots: [Connector]) -> [Connector] {
        let root = json.add(JSONText([], file: ""))
        var names = Dictionary(roots.map { ($0.name, $0.location.appending("name")) }) { first, _ in first }
        var all = roots + connectors(added, at: root.appending("connectors"), under: nil, names: &names)
        resolveDependencies(of: &all)
        checkPlaces(all)
        checkClaims(all)
        return all
    }

    /// Reads the root of the main file; nil if it is not an object.
    mutating func configuration(_ value: JSONValue) -> Configuration? {
        let root = JSONPath()
        guard let object = json.members(of: value, at: root, allowed: Self.sharedKeys + Self.mainKeys) else {
            return nil
        }
        checkVersion(in: object, at: root)
        let name = object["name"] == nil ? nil : name(in: object, at: root)
        let directories = paths("plugins", to: "directory", "directories", in: object, at: root).map(\.path)
        let state = stateDirectory(in: object)
        let servers = servers(in: object)
        let trust = trust(in: object)
        let reloadMode = reloadMode(in: object)
        if trust.isRequired { inclusions.trust = FileTrust() }
        let main = base
        if ["isolation", "quiet", "standby", "sandbox"].contains(where: { object[$0] != nil }) {
            isolation = isolation(in: object, at: root, below: isolation)
        }
        var names: [String: JSONPath] = [:]
        var connectors = roots(in: object, at: root, names: &names)
        resolveDependencies(of: &connectors)
        checkPlaces(connectors)
        checkClaims(connectors)
        return Configuration(
            texts: json.texts,
            unreadFiles: inclusions.unread,
            name: name,
            baseDirectory: main,
            pluginPaths: directories,
            statePath: state,
            servers: servers,
            requiresTrust: trust.isRequired,
            trustedKeys: trust.keys,
            reloadMode: reloadMode,
            connectors: connectors
        )
    }

    /// Resolves the names in `after` and `with`, once all connectors have been read.
    private mutating func resolveDependencies(of connectors: inout [Connector]) {
        json.origin = JSONPath()
        var dependencies = DependencyReader(json: json)
        dependencies.resolve(&connectors)
        json = dependencies.json
    }

    /// Reports a format version that is missing, or that this host does not support.
    mutating func checkVersion(in object: JSONObject, at root: JSONPath) {
        guard object["version"] != nil else {
            json.report(
                .missingValue,
                "\(json.name(of: root.appending("version"))) is missing",
                fix: "write \"version\": \(Configuration.formatVersion)",
                at: root
            )
            return
        }
        let version = json.integer("version", in: object, at: root, within: 1...Int64.max)
        guard let version, version != Configuration.formatVersion else { return }
        json.report(
            .invalidValue,
            "the file has version \(version), but this host supports only version \(Configuration.formatVersion)",
            fix: "write \"version\": \(Configuration.formatVersion), or use a newer host",
            at: root.appending("version")
        )
    }

    /// Reads what a reload does if a successor does not open.
    private mutating func reloadMode(in object: JSONObject) -> ReloadMode {
        let choices = "\"atomic\" or \"each\""
        guard let text = json.value("reload", in: object, at: JSONPath(), kind: choices, { $0.string }) else {
            return .atomic
        }
        if let mode = ReloadMode(rawValue: text) { return mode }
        json.report(.invalidValue, "reload must be \(choices)", at: JSONPath().appending("reload"))
        return .atomic
    }

    // MARK: Connectors

    /// Reads a list of siblings.
    ///
    /// - Parameter names: The names already in use by siblings, each with its location.
    mutating func connectors(
        _ array: [JSONValue],
        at path: JSONPath,
        under parent: String?,
        names: inout [String: JSONPath]
    ) -> [Connector] {
        var connectors: [Connector] = []
        for (index, element) in array.enumerated() {
            let here = path.appending(index)
            count += 1
            guard count <= Configuration.connectorLimit else {
                guard count == Configuration.connectorLimit + 1 else { break }
                let limit = Configuration.connectorLimit
                let files = json.texts.count > 1 ? "the files have" : "the file has"
                json.report(.tooLarge, "\(files) more than \(limit) connectors", at: here)
                break
            }
            let connector = connector(element, at: here, under: parent)
            if let connector { connectors.append(connector) }
            guard let name = element["name"]?.string else { continue }
            guard let earlier = names[name] else {
                names[name] = here.appending("name")
                continue
            }
            guard json.hasRoom() else { continue }
            let owner =
                json.position(of: earlier).map { "the connector at \($0)" } ?? "another connector beside this one"
            json.report(
                .duplicateName,
                "the name \"\(name.excerpt)\" is already used by \(owner)",
                fix: "rename one of them",
                at: here.appending("name")
            )
        }
        return connectors
    }

    /// Reads one connector and everything below it; nil if it is not an object.
    private mutating func connector(_ value: JSONValue, at path: JSONPath, under parent: String?) -> Connector? {
        json.connector = parent
        json.origin = JSONPath()
        guard case .object(let object) = value else {
            guard json.hasRoom() else { return nil }
            json.report(.wrongType, "\(path) must be an object, not \(value.kind)", at: path)
            return nil
        }
        let name = name(in: object, at: path)
        let label = name.isEmpty ? "\(path)" : name
        let connectorPath = (parent.map { $0 + "/" } ?? "") + label
        json.connector = connectorPath
        json.origin = path
        defer {
            json.connector = connectorPath
            json.origin = path
        }
        let kind = kind(of: object, at: path)
        checkKeys(of: object, kind, at: path)
        let isEnabled = isEnabled(in: object, at: path)
        let isAboveDisabled = isDisabled
        isDisabled = isDisabled || !isEnabled
        defer { isDisabled = isAboveDisabled }
        let http = http(in: object, at: path)
        let above = isolation
        isolation = kind == .same ? above : isolation(in: object, at: path, below: above)
        // At a composite or the root, they may be meant for others. Other settings of runners are for when the plugin gets one.
        if kind == .leaf, object["sandbox"] != nil { json.checkSandbox(of: isolation, at: path.appending("sandbox")) }
        if kind == .leaf, object["runner"] != nil { json.checkRunner(of: isolation, at: path.appending("runner")) }
        defer { isolation = above }
        let breakerAbove = breaker
        if kind != .same { breaker = breaker(in: object, at: path, below: breakerAbove) }
        defer { breaker = breakerAbove }
        let uses: (with: [String: String], unbound: Set<String>) =
            kind == .leaf ? bindings(in: object, at: path) : ([:], [])
        return Connector(
            Connector.Members(
                name: name,
                path: connectorPath,
                isRequired: json.bool("required", in: object, at: path),
                isEnabled: isEnabled,
                was: was(in: object, at: path),
                after: json.strings("after", in: object, at: path),
                with: uses.with,
                unbound: uses.unbound,
                timeout: duration("timeout", in: object, at: path),
                trial: duration("trial", in: object, at: path),
                retry: retry(in: object, at: path),
                heal: heal(in: object, at: path),
                breaker: breaker,
                probeInterval: probeInterval(in: object, at: path),
                allowedHosts: allowedHosts(in: object, at: path),
                delivery: delivery(in: object, at: path),
                propagatesTrace: http.propagatesTrace,
                cacheBytes: http.cacheBytes,
                isolation: isolation,
                simulator: simulator(in: object, at: path, base: base),
                recording: recording(in: object, at: path, base: base),
                kind: leafOrComposite(kind, object, at: path, named: connectorPath),
                location: path
            )
        )
    }

    /// Reads a connector as a leaf or a composite. An invalid one becomes an empty composite, so that others can refer to it.
    private mutating func leafOrComposite(
        _ kind: ConnectorKind?,
        _ object: JSONObject,
        at path: JSONPath,
        named name: String
    ) -> Connector.Kind {
        switch kind {
        case .leaf:
            if let leaf = leaf(in: object, at: path) { return .leaf(leaf) }
        case .composite: return composite(in: object, at: path, named: name)
        case .same: if let target = json.string("same", in: object, at: path) { return .same(path: target) }
        case nil: break
        }
        return .composite(policy: .all(quorum: nil), children: [])
    }

    private mutating func name(in object: JSONObject, at path: JSONPath) -> String {
        guard let name = json.string("name", in: object, at: path, required: true) else { return "" }
        guard isIdentifier(name) else {
            json.report(
                .invalidValue,
                "the name \"\(name.excerpt)\" must be \(identifierRule)",
                at: path.appending("name")
            )
            return ""
        }
        return name
    }

    /// Reads whether a connector is enabled; the value may come from a variable.
    private mutating func isEnabled(in object: JSONObject, at path: JSONPath) -> Bool {
        guard let text = object["enabled"]?.string, text.utf8.contains(UInt8(ascii: "$")) else {
            return json.bool("enabled", in: object, at: path) ?? true
        }
        guard let value = filled(text, at: path.appending("enabled")) else { return true }
        guard value == "true" || value == "false" else {
            json.report(
                .invalidValue,
                "enabled must be true or false, but \(text.excerpt) is \"\(value.excerpt)\"",
                fix: "set the environment variable to \"true\" or \"false\"",
                at: path.appending("enabled")
            )
            return true
        }
        return value == "true"
    }

    /// Expands the variables in a text; nil if one is not set, which is an error unless the connector is disabled.
    mutating func filled(_ text: String, at path: JSONPath) -> String? {
        guard isDisabled else { return variables.filled(text, at: path, reporting: &json)?.text }
        // The variables of a disabled connector need not be set.
        var others = JSONReader(text: [], file: "")
        let value = variables.filled(text, at: path, reporting: &others)?.text
        for problem in others.problems where problem.code != .missingVariable { json.report(problem, at: path) }
        return value
    }

    private mutating func leaf(in object: JSONObject, at path: JSONPath) -> Connector.Leaf? {
        let version = version(in: object, at: path)
        let config = json.object("config", in: object, at: path)?.withoutAnnotations ?? JSONObject()
        guard let text = json.string("plugin", in: object, at: path) else { return nil }
        guard let name = filled(text, at: path.appending("plugin")) else {
            guard isDisabled else { return nil }
            return Connector.Leaf(plugin: PluginSpecification(text, version: version), config: config)
        }
        let isPath = name.utf8.contains(UInt8(ascii: "/"))
        guard isPath ? name.canBePath : isIdentifier(name) else {
            json.report(
                .invalidValue,
                "\"\(name.excerpt)\" is neither a plugin's id nor a path, which contains a slash",
                fix: name == text
                    ? Self.identifier(meantBy: name).map { "did you mean \"\($0)\"?" }
                    : "correct the environment variable in \(text.excerpt)",
                at: path.appending("plugin")
            )
            return nil
        }
        return Connector.Leaf(
            plugin: PluginSpecification(isPath ? base.resolve(name) : name, version: version),
            config: config
        )
    }

    /// The id that differs from a text only by case; nil if that is no id either.
    private static func identifier(meantBy text: String) -> String? {
        let id = text.lowercased()
        return isIdentifier(id) ? id : nil
    }

    private mutating func composite(in object: JSONObject, at path: JSONPath, named name: String) -> Connector.Kind {
        let here = path.appending("connectors")
        let array = json.value("connectors", in: object, at: path, kind: "an array") { $0.array }
        if array?.isEmpty ?? false {
            json.report(.missingValue, "a composite needs at least one connector", at: here)
        }
        var children: [Connector] = []
        if path.steps.count / 2 < Configuration.depthLimit {
            var names: [String: JSONPath] = [:]
            children = connectors(array ?? [], at: here, under: name, names: &names)
        } else {
            json.report(
                .invalidValue,
                "connectors nest deeper than \(Configuration.depthLimit) levels",
                at: here
            )
        }
        json.connector = name
        json.origin = path
        let policy = policy(in: object, at: path, of: children)
        checkRoles(policy, &children, at: path)
        return .composite(policy: policy, children: children)
    }
}
