// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorSimulator

/// A leaf whose plugin a test simulates.
struct SimulatedLeaf {
    let path: String
    let plugin: LinkedPlugin
    private let world: SimulatedWorld
    private let operations: SimulatedOperations

    /// Reads the answers, and makes the plugin.
    ///
    /// - Throws: Every fault of the answers, or why the leaf cannot be simulated.
    init(
        _ path: String,
        _ answers: JSONValue,
        in resolved: ResolvedConfiguration,
        _ plugins: PluginLookup,
        clock: any HostClock
    ) throws(ConfigurationErrors) {
        self.path = path
        let written: SimulatedWorld
        do throws(SimulatedWorld.Faults) {
            written = try SimulatedWorld(parsing: answers.utf8(), file: "answers of \(path)")
        } catch {
            throw ConfigurationErrors(error.errors)
        }
        let plan: ResolvedLeaf
        do throws(ConnectorError) {
            plan = try Self.plan(of: path, written, in: resolved)
        } catch {
            throw ConfigurationErrors([error])
        }
        let faults = written.faults(with: plan.manifest)
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        world = written.labelled(by: plan.manifest)
        operations = SimulatedOperations(world, clock: clock)
        do throws(ConnectorError) {
            guard let manifest = plugins.interfaceText(plan.specification) else {
                throw ConnectorError(.invalidManifest, "the manifest of \(plan.manifest.id) cannot be read")
            }
            let standIn = operations.standIn(source: "the test")
            plugin = try LinkedPlugin(manifest: manifest.text, file: manifest.file, standIn: standIn)
        } catch {
            throw ConfigurationErrors([error])
        }
    }

    /// The plan of a leaf whose whole plugin a test simulates.
    private static func plan(
        of path: String,
        _ world: SimulatedWorld,
        in resolved: ResolvedConfiguration
    ) throws(ConnectorError) -> ResolvedLeaf {
        guard let plan = resolved.leaves[path] else {
            throw ConnectorError(
                .unknownConnector,
                "there is no leaf \"\(path.excerpt)\" to simulate",
                fix: suggestion(for: path, among: resolved.leaves.keys.sorted())
            )
        }
        guard world.hasOperations else {
            throw ConnectorError(
                .invalidValue,
                "the answers of \(path) have no \"operations\", so they simulate no plugin",
                fix: "for answers to HTTP requests, run a Simulator(answers:) of ConnectorSimulator"
            )
        }
        return try plan.get()
    }

    /// Begins the timeline now; the clock's timers keep it alive, and it ends when an entry is due after the host was released.
    func startTimeline(of host: ConnectorHost, clock: any HostClock) {
        let timeline = SimulatedTimeline(
            world,
            clock: clock,
            operations: operations,
            isWanted: { [weak host] in host != nil },
            lost: { [weak host, path] in host?.lost($0, from: path) },
            emit: { [weak host, path] in host?.emit($0, $1, from: path) }
        )
        timeline.start()
    }
}
