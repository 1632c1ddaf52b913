// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorHost
internal import ConnectorLoading
public import ConnectorManifest

/// Checks, in a plugin author's tests, whether a plugin follows the rules of the ABI.
///
/// ```swift
/// @Test func `the plugin conforms`() async {
///     #expect(await PluginConformance.check("build/libmine.so").isEmpty)
/// }
/// ```
///
/// The suite generates values for the fields that the manifest requires; set ``Options/config`` if the plugin needs
/// particular values.
///
/// The suite loads the image; creates, opens, probes, cancels, closes and destroys instances, one at a time and
/// concurrently; and records the plugin's calls of the host. Whether a gate opens depends on its vendor, so the suite
/// only requires that opening completes once, with evidence or an error. It calls no operations, because only the
/// author knows their effects.
///
/// The plugin runs in the test's process, so its crash ends the test. Nothing else may write to standard output
/// meanwhile, because the suite cannot distinguish the writers.
public enum PluginConformance {
    /// The settings of a check.
    public struct Options: Sendable {
        /// The connector's `config`. The suite generates values for required fields that it lacks.
        public var config: JSONObject
        /// The hosts that the plugin may reach over HTTP: simulators, not vendors.
        public var allowedHosts: [String]
        /// Stand-ins for the gates that the plugin uses, by the names in its manifest's `uses`: each answers a call of an
        /// operation with these arguments. A use without one is not open; an optional one is
        /// bound to nothing.
        public var gates: [String: GateDouble]
        /// The longest time that a step may take.
        public var timeout: Duration
        /// How long the suite waits for calls that must not happen.
        public var patience: Duration
        /// How many times to create, open, close and destroy an instance.
        public var cycles: Int

        /// Answers a call of an operation with these arguments: an object by name, or an array by position.
        public typealias GateDouble =
            @Sendable (_ operation: String, _ arguments: JSONValue) async throws(ConnectorError) -> JSONValue

        /// Creates options; by default, no fields, only servers on this machine, five seconds for each step.
        public init(
            config: JSONObject = [:],
            allowedHosts: [String] = ["127.0.0.1", "localhost", "[::1]"],
            gates: [String: GateDouble] = [:],
            timeout: Duration = .seconds(5),
            patience: Duration = .milliseconds(100),
            cycles: Int = 3
        ) {
            self.config = config
            self.allowedHosts = allowedHosts
            self.gates = gates
            self.timeout = timeout
            self.patience = patience
            self.cycles = cycles
        }
    }

    /// Checks the plugin in a file.
    ///
    /// - Parameters:
    ///   - path: The path of an image, or of a sidecar that names one.
    ///   - options: The plugin's configuration, and how long to wait.
    /// - Returns: Every broken rule, once for each way it was broken; empty if the plugin conforms.
    public static func check(_ path: String, options: Options = Options()) async -> [Finding] {
        await check(options) { () throws(ConnectorError) in try PluginCatalog.candidate(path: path) }
    }

    /// Checks a plugin that the test links.
    ///
    /// - Parameters:
    ///   - type: The plugin's type.
    ///   - options: The plugin's configuration, and how long to wait.
    /// - Returns: Every broken rule, once for each way it was broken; empty if the plugin conforms.
    public static func check(_ type: any LinkablePlugin.Type, options: Options = Options()) async -> [Finding] {
        let plugin = type.linkedPlugin
        return await check(options) { () throws(ConnectorError) in try PluginCandidate(plugin) }
    }

    private static func check(
        _ options: Options,
        _ find: () throws(ConnectorError) -> PluginCandidate
    ) async -> [Finding] {
        let candidate: PluginCandidate
        do throws(ConnectorError) {
            candidate = try find()
        } catch {
            return [Finding(.manifest, error.treeDescription)]
        }
        let configurations: [ConformanceConfiguration]
        do throws(ConfigurationErrors) {
            configurations = try ConformanceConfiguration.all(options, manifest: candidate.manifest)
        } catch {
            return error.errors.map { Finding(.configuration, $0.description) }
        }
        return await StandardOutput.watched {
            let plugin: Plugin
            do throws(ConnectorError) {
                plugin = try PluginLoader().load(candidate)
            } catch {
                return [Finding(.loading, error.treeDescription)]
            }
            return await examine(plugin, configurations, options)
        }
    }

    private static func examine(
        _ plugin: Plugin,
        _ configurations: [ConformanceConfiguration],
        _ options: Options
    ) async -> [Finding] {
        var findings = symbols(of: plugin)
        // A foreign library has no instances to check.
        guard let table = plugin.table else { return findings }
        let bench = ConformanceBench(table, manifest: plugin.manifest, configurations, options)
        await bench.checkWrongConfigurations()
        if await bench.chooseConfiguration(), await bench.checkLifeCycle() {
            for _ in 1..<max(1, options.cycles) { await bench.checkLifeCycle() }
            await bench.checkConcurrentInstances()
            await bench.checkCancelledOpen()
            await bench.checkUnopened()
        }
        await bench.awaitLateCalls()
        await bench.stop()
        findings += bench.findings
        return findings
    }

    private static func symbols(of plugin: Plugin) -> [Finding] {
        plugin.manifest.symbols.filter { unsafe plugin.symbol(named: $0) == nil }
            .map { Finding(.symbols, "the manifest names \($0), which the image does not export") }
    }
}
