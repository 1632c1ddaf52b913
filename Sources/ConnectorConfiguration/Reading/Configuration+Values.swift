// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

extension Configuration {
    /// Creates a configuration in Swift, without a file.
    ///
    /// ```swift
    /// let configuration = try Configuration(
    ///     connectors: [
    ///         Connector("analytics", connectors: [
    ///             Connector("segment", plugin: "segment", config: ["writeKey": "${SEGMENT_WRITE_KEY}"]),
    ///             Connector("posthog", plugin: "posthog", config: [
    ///                 "endpoint": "https://eu.i.posthog.com", "apiKey": ["secret": "env:POSTHOG_KEY"],
    ///             ], isRequired: false),
    ///         ]),
    ///         Connector("geocoder", plugin: "google", config: ["key": ["secret": "file:secrets/google"]], timeout: .seconds(5)),
    ///     ],
    ///     plugins: ["Plugins"]
    /// )
    /// let host = try ConnectorHost(configuration)
    /// ```
    ///
    /// The rules and error codes are the same as for a file. An error has no position, but names the connector by its path.
    ///
    /// - Parameters:
    ///   - name: The application's name, under which `storage/1` stores its values; nil for the program's path.
    ///   - connectors: The roots of the tree.
    ///   - plugins: The directories to search for plugins; each may contain `${NAME}`.
    ///   - state: The directory of the outbox; nil for the default. May contain `${NAME}`.
    ///   - requiresTrust: Whether to refuse a plugin that other users can modify.
    ///   - reloadMode: What a reload does if a connector's successor does not open.
    ///   - directory: The directory that relative paths of plugins and secrets are resolved against.
    ///   - environment: The variables that `${NAME}` reads in `plugins` and in the names of plugins.
    /// - Throws: Every error in the configuration.
    public init(
        name: String? = nil,
        connectors: [Connector],
        plugins: [String] = [],
        state: String? = nil,
        requiresTrust: Bool = false,
        reloadMode: ReloadMode = .atomic,
        directory: String = ".",
        environment: Environment = .process
    ) throws(ConfigurationErrors) {
        var root: JSONObject = [
            "version": .integer(Self.formatVersion),
            "plugins": .array(plugins.map { .string($0) }),
            "trust": requiresTrust ? "strict" : "warn",
            "reload": .string(reloadMode.rawValue), "connectors": .array(connectors.map { $0.json() }),
        ]
        root.set("state", state)
        root.set("name", name)
        let base = BaseDirectory(given: directory)
        var reader = ConfigurationReader(text: [], file: "", base: base, environment: environment)
        let read = reader.configuration(.object(root))
        reader.checkSettings(of: connectors)
        guard let read, reader.json.problems.isEmpty else {
            throw ConfigurationErrors(reader.json.problems, omitted: reader.json.omitted)
        }
        self.init(
            texts: read.texts,
            name: read.name,
            baseDirectory: read.baseDirectory,
            pluginPaths: read.pluginPaths,
            statePath: read.statePath,
            servers: read.servers,
            requiresTrust: read.requiresTrust,
            reloadMode: read.reloadMode,
            connectors: zip(read.connectors, connectors).map { $0.restoringExactValues(from: $1) }
        )
        try requireLastingPaths()
    }

    /// Adds connectors created in Swift to the roots of the tree, such as leaves whose plugins the application links.
    ///
    /// ```swift
    /// let file = try Configuration.read(file: "connectors.json")
    /// let host = try ConnectorHost(file.appending([Connector("settings", plugin: Settings.self)]))
    /// ```
    ///
    /// The rules are those of an included file: names at the root must be unique, and `after` may name any connector.
    ///
    /// - Parameters:
    ///   - added: The connectors to add, after the existing roots.
    ///   - environment: The variables that `${NAME}` reads in the names of plugins.
    /// - Throws: Every error in the connectors.
    public func appending(
        _ added: [Connector],
        environment: Environment = .process
    ) throws(ConfigurationErrors) -> Configuration {
        var reader = ConfigurationReader(addingTo: self, environment: environment)
        let all = reader.appending(added.map { $0.json() }, to: connectors)
        reader.checkSettings(of: added)
        guard reader.json.problems.isEmpty else {
            throw ConfigurationErrors(reader.json.problems, omitted: reader.json.omitted, files: reader.json.texts)
        }
        let new = zip(all.dropFirst(connectors.count), added).map { $0.restoringExactValues(from: $1) }
        return Configuration(
            texts: reader.json.texts,
            name: name,
            baseDirectory: baseDirectory,
            pluginPaths: pluginPaths,
            statePath: statePath,
            servers: servers,
            requiresTrust: requiresTrust,
            trustedKeys: trustedKeys,
            lock: lock,
            reloadMode: reloadMode,
            appended: appended + added,
            connectors: all.prefix(connectors.count) + new
        )
    }
}

extension ConfigurationReader {
    /// Reports the invalid settings of connectors made in Swift, which are in the last text.
    fileprivate mutating func checkSettings(of connectors: [Connector]) {
        let root = JSONPath(text: json.texts.count - 1)
        for connector in connectors { json.check(connector, under: nil, at: root) }
    }
}

extension Connector {
    /// The connector as JSON. ``restoringExactValues(from:)`` then restores what JSON cannot express, such as exact durations.
    ///
    /// What is nested more deeply than a file allows, which might be too deep for the stack, is left out, and reported all the same: by the
    /// reader, which does not look below the deepest level, and by `JSONReader.check(_:under:at:)`.
    ///
    /// - Parameter level: 1 for a root.
    fileprivate func json(level: Int = 1) -> JSONValue {
        guard level <= Configuration.depthLimit else { return .null }
        var object: JSONObject = ["name": .string(name), "enabled": .bool(isEnabled)]
        object["required"] = isRequired.map { .bool($0) }
        if !after.isEmpty { object["after"] = .array(after.map { .string($0) }) }
        object["was"] = was.map { .string($0) }
        switch kind {
        case .leaf(let leaf):
            object["plugin"] = .string(leaf.plugin.name)
            object["version"] = leaf.plugin.version.map { .string($0.description) }
            if !leaf.hasDeepConfig { object["config"] = .object(leaf.config) }
            if hasBindings {
                let bound = with.mapValues(JSONValue.string)
                let all = bound.merging(unbound.map { ($0, JSONValue.null) }) { _, null in null }
                object["with"] = .object(JSONObject(all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
            }
        case .composite(let policy, let children):
            object["policy"] = .string(policy.description)
            if case .all(let quorum?) = policy { object["quorum"] = .integer(Int64(quorum)) }
            object["canary"] = policy.canary?.json
            object["connectors"] = .array(children.map { $0.json(level: level + 1) })
        case .same(let path): object["same"] = .string(path)
        }
        return .object(object)
    }

    /// This connector with the exact times, hosts, delivery, tracing, cache, isolation and linked plugin of another.
    fileprivate func restoringExactValues(from given: Connector) -> Connector {
        changing { members in
            members.timeout = given.timeout
            members.trial = given.trial
            members.retry = given.retry
            members.heal = given.heal
            members.breaker = given.breaker
            members.probeInterval = given.probeInterval
            members.allowedHosts = given.allowedHosts
            members.delivery = given.delivery
            members.propagatesTrace = given.propagatesTrace
            members.cacheBytes = given.cacheBytes
            members.isolation = given.isolation
            if case .composite(let policy, let children) = kind {
                let children = zip(children, given.children).map { $0.restoringExactValues(from: $1) }
                members.kind = .composite(policy: policy, children: children)
            } else if case .leaf(let leaf) = given.kind, leaf.plugin.linked != nil {
                members.kind = given.kind
            }
        }
    }
}
