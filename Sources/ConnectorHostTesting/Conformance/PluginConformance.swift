// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorLoading
public import ConnectorManifest

/// Checks whether a plugin keeps the rules of the ABI, for its author's own tests.
///
/// ```swift
/// @Test func `the plugin conforms`() async {
///     #expect(await PluginConformance.check("build/libmine.so").isEmpty)
/// }
/// ```
///
/// The suite loads the image, makes instances, opens, probes, cancels, closes and destroys them, alone and beside each other,
/// and watches what the plugin calls back. Whether a gate opens at all is up to its vendor: the suite only asks that it ends,
/// once, with evidence or with an error. Operations are not called, since nobody knows what they do out there.
///
/// A plugin runs in the test's process: one that crashes takes the test with it. Nothing else may write to standard output
/// meanwhile, since the suite cannot tell who did.
public enum PluginConformance {
    /// What a plugin is checked with.
    public struct Options: Sendable {
        /// The connector's `config`; a plugin whose manifest requires fields needs them.
        public var config: JSONObject
        /// The hosts that HTTP may reach: simulators, not vendors.
        public var allowedHosts: [String]
        /// How long a step may take.
        public var timeout: Duration
        /// How long the suite listens for what must not come any more.
        public var patience: Duration
        /// How often an instance is made, opened, closed and destroyed.
        public var cycles: Int

        /// No fields, this machine's own servers, five seconds a step.
        public init(
            config: JSONObject = [:],
            allowedHosts: [String] = ["127.0.0.1", "localhost", "[::1]"],
            timeout: Duration = .seconds(5),
            patience: Duration = .milliseconds(100),
            cycles: Int = 3
        ) {
            self.config = config
            self.allowedHosts = allowedHosts
            self.timeout = timeout
            self.patience = patience
            self.cycles = cycles
        }
    }

    /// Checks the plugin of a file.
    ///
    /// - Parameters:
    ///   - path: An image, or a sidecar that names one.
    ///   - options: What to configure it with, and how long to wait.
    /// - Returns: Every rule that it broke, once for each way; nothing if it conforms.
    public static func check(_ path: String, options: Options = Options()) async -> [Finding] {
        let candidate: PluginCandidate
        do throws(ConnectorError) {
            candidate = try PluginCatalog.candidate(path: path)
        } catch {
            return [Finding(.manifest, error.treeDescription)]
        }
        let configuration: ConformanceConfiguration
        do throws(ConfigurationErrors) {
            configuration = try ConformanceConfiguration(path, options, manifest: candidate.manifest)
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
            return await examine(plugin, configuration, options)
        }
    }

    private static func examine(
        _ plugin: Plugin,
        _ configuration: ConformanceConfiguration,
        _ options: Options
    ) async -> [Finding] {
        var findings = symbols(of: plugin)
        // A foreign library has no life of its own to be checked.
        guard let table = plugin.table else { return findings }
        let bench = ConformanceBench(table, manifest: plugin.manifest, configuration, options)
        await bench.checkWrongConfigurations()
        if await bench.checkLife() {
            for _ in 1..<max(1, options.cycles) { await bench.checkLife() }
            await bench.checkNeighbours()
            await bench.checkCancelledOpen()
            await bench.checkUnopened()
        }
        await bench.listen()
        await bench.stop()
        findings += bench.findings
        return findings
    }

    private static func symbols(of plugin: Plugin) -> [Finding] {
        plugin.manifest.symbols.filter { unsafe plugin.symbol(named: $0) == nil }
            .map { Finding(.symbols, "the manifest names \($0), which the image does not export") }
    }
}
