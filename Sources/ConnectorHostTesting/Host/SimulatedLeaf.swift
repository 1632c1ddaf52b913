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
        do throws(SimulatedWorld.Faults) {
            world = try SimulatedWorld(parsing: answers.utf8(), file: "answers of \(path)")
        } catch {
            throw ConfigurationErrors(error.errors, omitted: 0)
        }
        operations = SimulatedOperations(world, clock: clock)
        do throws(ConnectorError) {
            guard let plan = try resolved.leaves[path]?.get() else {
                throw ConnectorError(.unknownConnector, "there is no leaf \(path) to simulate")
            }
            let faults = world.faults(with: plan.manifest)
            guard faults.isEmpty else { throw faults[0] }
            guard let manifest = plugins.interfaceText(plan.specification) else {
                throw ConnectorError(.invalidManifest, "the manifest of \(plan.manifest.id) cannot be read")
            }
            plugin = try LinkedPlugin(
                manifest: manifest.text,
                file: manifest.file,
                standIn: operations.standIn(source: "the test")
            )
        } catch {
            throw ConfigurationErrors([error], omitted: 0)
        }
    }

    /// Begins the timeline now; the clock keeps it until the host is released.
    func startTimeline(of host: ConnectorHost, clock: any HostClock) {
        let timeline = SimulatedTimeline(world, clock: clock, operations: operations) { [weak host, path] in
            host?.emit($0, $1, from: path)
        }
        timeline.start()
    }
}
