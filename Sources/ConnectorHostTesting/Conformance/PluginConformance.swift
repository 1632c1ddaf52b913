// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
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
/// The rules are those of `connector-host test`, up to ``Options/level``; docs/reference/conformance.md lists them. The suite
/// creates, opens, probes, cancels, closes and destroys instances, and records the plugin's calls to the host. Whether a gate opens
/// depends on its vendor, so rules below level 6 only require that opening completes once, with evidence or an error.
///
/// The plugin runs in the test's process, so its crash ends the test, and rules about the whole process are left out;
/// the command checks each rule in a process of its own. Nothing else may write to standard output meanwhile, because the
/// suite cannot tell the writers apart.
public enum PluginConformance {
    /// The settings of a check.
    public struct Options: Sendable {
        /// The connector's `config`. The suite generates values for required fields that it lacks.
        public var config: JSONObject
        /// The hosts that the plugin may reach over HTTP: simulators, not vendors.
        public var allowedHosts: [String]
        /// Stand-ins for the gates that the plugin uses, by the names in its manifest's `uses`. Without one, the gate of a
        /// required use is not open, and an optional use is bound to nothing.
        public var gates: [String: GateDouble]
        /// The longest time that a step may take.
        public var timeout: Duration
        /// How long the suite waits for calls that must not happen.
        public var patience: Duration
        /// How many times to create, open, close and destroy an instance.
        public var cycles: Int
        /// The highest level of the rules that are checked, from 1 to 10.
        public var level = 5
        /// What the vendor answers, as in a file of answers; nil for a simulator that comes with the host, if there is one.
        public var answers: JSONValue?
        /// The seed of generated values; the same seed generates the same values.
        public var seed: UInt64 = 1
        /// How many generated calls to make to each operation.
        public var runs = 40
        /// Whether gates run in a runner.
        package var isIsolated = false
        /// The program that runners execute; nil to look for it.
        package var runner: String?
        /// A directory for the state of hosts; nil to create one.
        package var scratch: String?

        /// Answers a call of an operation with these arguments: an object by name, or an array by position.
        public typealias GateDouble =
            @Sendable (_ operation: String, _ arguments: JSONValue) async throws(ConnectorError) -> JSONValue

        /// Creates options; by default, there are no fields, only servers on this machine can be reached, and a step may take five seconds.
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

    /// Checks the plugin in a file against every rule that can be checked in this process.
    ///
    /// - Parameters:
    ///   - path: The path of an image, or of a sidecar that names one.
    ///   - options: The plugin's configuration, and how long to wait.
    /// - Returns: Every broken rule, once for each way it was broken; empty if the plugin conforms.
    public static func check(_ path: String, options: Options = Options()) async -> [Finding] {
        await check(.file(path), options)
    }

    /// Checks a plugin that the test links against every rule that needs no file.
    ///
    /// - Parameters:
    ///   - type: The plugin's type.
    ///   - options: The plugin's configuration, and how long to wait.
    /// - Returns: Every broken rule, once for each way it was broken; empty if the plugin conforms.
    public static func check(_ type: any LinkablePlugin.Type, options: Options = Options()) async -> [Finding] {
        do throws(ConnectorError) {
            return await check(.linked(try PluginCandidate(type.linkedPlugin)), options)
        } catch {
            return [Finding(.manifest, error.withCause)]
        }
    }

    private static func check(_ subject: RuleRun.Subject, _ options: Options) async -> [Finding] {
        var findings: [Finding] = []
        let known = RuleRun.Known()
        // Check the basics first; if a plugin breaks them, skip the rules that build on them.
        for need in [Rule.Need.file, .image, .instance, .gate] {
            for rule in Rule.all
            where rule.need == need && rule.level <= options.level && !rule.ownsProcess && rule.theme != .isolation {
                let run = RuleRun(subject, options, known: known)
                _ = await rule.run(run)
                for finding in run.findings where !findings.contains(finding) { findings.append(finding) }
                if findings.contains(where: { [.loads, .configuration].contains($0.rule) }) { return findings }
            }
            if need == .file ? findings.contains(where: { $0.rule.level == 1 }) : !findings.isEmpty { break }
        }
        return findings
    }
}
