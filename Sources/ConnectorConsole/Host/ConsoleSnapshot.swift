// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
public import ConnectorManifest
package import ConnectorOutbox

/// What a host says at one moment, for scenes to be made from.
public struct ConsoleSnapshot: Sendable {
    /// The time of the moment.
    public var time: Timestamp
    /// Every gate.
    public var report: Report
    /// The last events of plugins, oldest first.
    public var events: [ConnectorEvent] = []
    /// How many events came before those.
    package var forgottenEvents = 0
    /// What changed while the console looked on.
    package var history = HostHistory()
    /// How busy the gates that are shown were, by path.
    package var load: [String: Load] = [:]
    /// The capabilities of the gates that are shown, by path.
    package var capabilities: [String: [Capability]] = [:]
    /// The last calls that were made from a console of the operations that are shown. They show what was asked and
    /// answered: empty it for somebody who may not act.
    package var calls: [Route: ConsoleCall] = [:]
    /// Events that wait, oldest first; the first ones alone.
    package var waiting: [OutboxRecord] = []
    /// Dead letters, oldest first; the first ones alone.
    package var dead: [OutboxRecord] = []
    /// Events that wait and dead letters after a place, by the routes that name it; the first ones there alone.
    package var later: [Route: [OutboxRecord]] = [:]
    /// The event that is shown, at each connector that gets it.
    package var found: [OutboxRecord] = []
    /// Every plugin, once one is shown.
    package var plugins: [PluginSummary] = []
    /// What the host was made from; nil if that is unknown.
    package var configuration: Configuration?
    /// How command lines are made that do the same.
    package var commands = CommandLines()
    /// What was looked up for it.
    package var routes: Set<Route> = []
    /// Why something could not be looked up.
    package var failure: ConnectorError?

    /// A moment without anything but a report.
    package init(time: Timestamp, report: Report) {
        self.time = time
        self.report = report
    }

    /// Whether it knows what there is to be known of a route.
    package func isAbout(_ route: Route) -> Bool {
        switch route.root {
        case Route.outbox.root, Route.dead.root, Route.plugins.root: routes.contains(route)
        // The operations of a gate are looked up.
        case Route.gates.root: route.parts.count < 3 || routes.contains(route)
        default: true
        }
    }
}
