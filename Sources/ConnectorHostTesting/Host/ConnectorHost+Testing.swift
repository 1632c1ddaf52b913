// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorConfiguration
public import ConnectorHost
internal import ConnectorLoading
internal import ConnectorPlatform
public import Logging
internal import Synchronization

extension ConnectorHost {
    /// What plugin files say, by path; the manifest of an unchanged image is read once for all hosts of the tests.
    private static let examined = Mutex<[String: PluginEntry]>([:])

    private static func examine(_ files: [String]) -> PluginLookup {
        examined.withLock { examined in
            PluginLookup(files: files) { file in
                let entry = PluginCatalog.entry(path: file, after: examined[file])
                examined[file] = entry
                return entry
            }
        }
    }

    private static func checkSyntax(of text: String) throws(ConfigurationErrors) {
        do throws(ConnectorError) {
            _ = try JSONValue(parsing: text)
        } catch {
            throw ConfigurationErrors([error])
        }
    }

    /// Reads a text that follows a prefix of one line. The faults have the columns that they have without it.
    private static func located<Value>(
        after prefix: String,
        _ read: () throws(ConfigurationErrors) -> Value
    ) throws(ConfigurationErrors) -> Value {
        do throws(ConfigurationErrors) {
            return try read()
        } catch {
            var errors = error.errors
            for index in errors.indices {
                guard let position = errors[index].position, position.file.isEmpty, position.line == 1 else { continue }
                let column = position.column - prefix.unicodeScalars.count
                errors[index].position = column > 0 ? FilePosition(line: 1, column: column) : nil
            }
            throw ConfigurationErrors(errors, omitted: error.omitted)
        }
    }

    private static let isolation = ProcessEnvironment.current["CONNECTOR_TESTING_ISOLATION"]?.shown
    private static let runner = ProcessEnvironment.current["CONNECTOR_RUNNER"]?.shown

    /// Creates a host that reads no files except the plugins', with a clock that the test moves.
    ///
    /// ```swift
    /// let clock = ManualHostClock()
    /// let host = try ConnectorHost.testing(
    ///     #"""
    ///     [{ "name": "geocoder", "plugin": "nominatim",
    ///        "config": { "endpoint": "http://127.0.0.1:8080", "userAgent": "tests/1.0" } }]
    ///     """#,
    ///     plugins: ["Plugins/nominatim/nominatim.connector.json"],
    ///     simulating: [
    ///         "geocoder": ["version": 1, "operations": [["operation": "geocode", "delay": "10s", "result": []]]]
    ///     ],
    ///     clock: clock
    /// )
    /// try await host.open().requireReady()
    /// let places = Task {
    ///     try await host.geocoder("geocoder").geocode("Berlin", options: CallOptions(timeout: .seconds(5)))
    /// }
    /// await clock.advance(toTimerAfter: .seconds(5))
    /// let error = await #expect(throws: ConnectorError.self) { try await places.value }
    /// #expect(error?.code == .timedOut)
    /// ```
    ///
    /// - Parameters:
    ///   - connectors: The array of connectors as in `connectors.json`, or the whole text of such a file. An array takes its default
    ///     `isolation` from the process's variable `CONNECTOR_TESTING_ISOLATION`, so that all tests can run with plugins in
    ///     runners: `CONNECTOR_TESTING_ISOLATION=process swift test`.
    ///   - plugins: Images or sidecars; connectors name them by the ids in their manifests. No directory is searched.
    ///   - added: Connectors to append to those of `connectors`, such as leaves whose plugins the test links.
    ///   - worlds: Files of answers as values, such as `["version": 1, "operations": [...]]` and perhaps a `timeline`, by the paths of
    ///     the leaves whose plugins they simulate. Such a leaf needs a manifest, but no image. For answers to HTTP requests, run a
    ///     `Simulator(answers:)`. A timeline begins now.
    ///   - environment: The variables that `${NAME}` and `{"secret": "env:NAME"}` read; none come from the process. Only the program of
    ///     runners is found by the process's `CONNECTOR_RUNNER`, unless this has one, too.
    ///   - clock: The clock of the host and of its plugins, also of those in runners; nil for a ``ManualHostClock`` that never moves.
    ///     While the clock stands, nothing times out, and the lines that a plugin logs have the room of one second. So finish or cancel
    ///     calls before ``ConnectorHost/ConnectorHost/close()``, which waits for them, or move the clock meanwhile:
    ///     `await clock.advance(by: .seconds(1)) { await host.close() }`.
    ///   - jitter: Draws the wait between two attempts to open, from zero to its argument, in nanoseconds. The default
    ///     returns the argument, so that waits are predictable.
    ///   - stateDirectory: Where `storage/1` keeps its files; a test that uses storage must pass a directory.
    ///   - logger: The logger of the host and the plugins; by default, it logs nothing.
    /// - Throws: A `ConfigurationErrors` with every fault in the connectors or the answers.
    public static func testing(
        _ connectors: String,
        plugins: [String] = [],
        appending added: [Connector] = [],
        simulating worlds: [String: JSONValue] = [:],
        environment: [String: String] = [:],
        clock: (any HostClock)? = nil,
        jitter: @escaping @Sendable (UInt64) -> UInt64 = { $0 },
        stateDirectory: String? = nil,
        logger: Logger = Logger(label: "connector-host") { _ in SwiftLogNoOpLogHandler() }
    ) throws(ConfigurationErrors) -> ConnectorHost {
        let isWhole = connectors.utf8.first { !$0.isWhitespace } == UInt8(ascii: "{")
        let isolation = isolation.map { #""isolation": \#(JSONValue.string($0)), "# } ?? ""
        let prefix = isWhole ? "" : #"{"version": 1, \#(isolation)"connectors": "#
        // An array that does not end must not swallow what is put around it.
        if !isWhole { try checkSyntax(of: connectors) }
        let environment = Configuration.Environment(environment)
        let configuration = try located(after: prefix) { () throws(ConfigurationErrors) in
            try Configuration(parsing: isWhole ? connectors : prefix + connectors + "}", environment: environment)
                .appending(added, environment: environment)
        }
        let clock = clock ?? ManualHostClock()
        var options = Options(
            environment: environment,
            pluginDirectories: [],
            clock: clock,
            stateDirectory: stateDirectory
        )
        options.jitter = jitter
        // A test may name a program of its own.
        if environment["CONNECTOR_RUNNER"] == nil, let runner, !runner.isEmpty { options.runner = runner }
        options.outbox = stateDirectory == nil && configuration.stateDirectory == nil ? .memory : .sqlite
        // The files may have changed since the host was created.
        var source = ConfigurationSource(
            environment: environment,
            simulating: worlds.isEmpty ? nil : SimulationRequest(paths: Set(worlds.keys))
        ) { _ in examine(plugins) }
        let (resolved, lookup) = try located(after: prefix) { [source] () throws(ConfigurationErrors) in
            try source.resolve(configuration)
        }
        var simulated: [SimulatedLeaf] = []
        for (path, answers) in worlds {
            simulated.append(try SimulatedLeaf(path, answers, in: resolved, lookup, clock: clock))
        }
        let standIns = StandIns(plugins: Dictionary(simulated.map { ($0.path, $0.plugin) }) { first, _ in first })
        if !worlds.isEmpty { source.simulation = standIns }
        let replaced = standIns.pointing(resolved, lookup)
        let host = ConnectorHost(replaced, plugins: lookup, source: source, options: options, logger: logger)
        for leaf in simulated { leaf.startTimeline(of: host, clock: clock) }
        return host
    }

    /// The first report that satisfies a condition, starting with the current one.
    ///
    /// Use it to await actions that the host takes automatically, such as reopening a gate. Cancelling the task, or closing the
    /// host, returns the current report.
    public func report(where isWanted: @Sendable (Report) -> Bool) async -> Report {
        for await report in reports where isWanted(report) { return report }
        return report
    }
}

/// The plugins with answers that take the places of leaves' own, by the leaves' paths.
private struct StandIns: ConfigurationSimulation {
    let plugins: [String: LinkedPlugin]

    func pointing(_ resolved: ResolvedConfiguration, _ lookup: PluginLookup) -> ResolvedConfiguration {
        resolved.replacing(plugins)
    }
}
