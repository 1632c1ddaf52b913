// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
internal import ConnectorManifest
package import ConnectorOutbox
internal import ConnectorPlatform

/// The state of a host and of the application's model at one moment, from which scenes are made.
public struct ConsoleSnapshot: Sendable {
    /// When the snapshot was taken.
    public var time: Timestamp
    /// The report of every gate.
    public var report: Report
    /// The last events of plugins, oldest first.
    public var events: [ConnectorEvent] = []
    /// How many earlier events were dropped.
    package var droppedEvents = 0
    /// The changes of state since the console started.
    package var history = HostHistory()
    /// The load of the visible gates, by path.
    package var load: [String: Load] = [:]
    /// The capabilities of the visible gates, by path.
    package var capabilities: [String: [Capability]] = [:]
    /// The last calls of the visible operations, with arguments and answers; pages omit them for operators who may not act.
    package var calls: [Route: ConsoleCall] = [:]
    /// The visible pages of waiting events and dead letters, by route.
    package var records: [Route: RecordPage] = [:]
    /// The dead letters as they were shown before, oldest first, if a route shows them.
    package var earlierLetters: [ShownLetters] = []
    /// The visible event, once for each connector that gets it.
    package var found: [OutboxRecord] = []
    /// Every plugin, if a route shows plugins.
    package var plugins: [PluginSummary] = []
    /// The images in the process's memory, if a route shows plugins.
    package var images: [HeldImages] = []
    /// The rows of the components of plugin scenes, by scene, gate and component.
    package var feeds: [String: PluginFeed] = [:]
    /// The host's configuration; nil if it is not known.
    package var configuration: Configuration?
    /// The configuration of each leaf, if a route shows the configuration.
    package var leaves: [ConfiguredLeaf] = []
    /// What a reload would change, if a route shows it; nil while the plan is being made.
    package var plan: ShownPlan?
    /// The plans that were shown before, oldest first, if a route shows one.
    package var earlierPlans: [Plan] = []
    /// Builds the equivalent command lines.
    package var commands = CommandLines()
    /// The routes that the snapshot was taken for.
    package var routes: Set<Route> = []
    /// The error of a failed query; nil if none failed.
    package var failure: ConnectorError?
    /// Whether it is for an operator who may act.
    package var permitsActs = true

    /// Whether there is a host, whose readiness platforms show.
    public internal(set) var hasHost = true
    /// The states of the acts that are pending or have failed, by act id.
    package var acts: [String: ViewState] = [:]
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates a snapshot that contains only a report.
    package init(time: Timestamp, report: Report) {
        self.time = time
        self.report = report
    }

    /// Creates a snapshot without a host, for a model of the application's own.
    ///
    /// - Parameter time: Nil for now.
    public init(time: Timestamp? = nil) {
        self.time = time ?? SystemHostClock().wallTime()
        report = Report(gates: [], state: .closed)
        hasHost = false
    }

    /// The value of a type that the application's model provides for its scenes; nil if there is none.
    public subscript<Value: Sendable>(type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }

    /// Whether the snapshot has the data for the scene of a route.
    package func covers(_ route: Route) -> Bool {
        switch route.root {
        case Route.outbox.root, Route.dead.root, Route.plugins.root, Route.configuration.root, Route.plan.root:
            routes.contains(route)
        // The operations of a gate are queried only for visible routes.
        case Route.gates.root: route.parts.count < 3 || routes.contains(route)
        default: true
        }
    }
}
