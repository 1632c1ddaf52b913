// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// The console's model of a host in the same process.
///
/// An application that shows a host together with data of its own wraps this model in its own.
public final class HostConsoleModel: ConsoleModel {
    private struct State {
        var history = HostHistory()
        var load = LoadHistory()
        var events: [ConnectorEvent] = []
        var droppedEvents = 0
        var plugins: [PluginSummary]?
        var leaves: [ConfiguredLeaf]?
        /// The revision of the configuration that the plugins and leaves belong to.
        var revision: Int?
        var calls = CallHistory()
        var feeds = PluginFeeds()
        /// The last versions of the dead letters that were shown, oldest first.
        var letters: [ShownLetters] = []
        /// What searches of the outbox have found lately, by route.
        var searches: [Route: FoundRecords] = [:]
        /// The scenes that the plugins of the configured gates describe.
        var scenes: [PluginScene] = []
        /// The revision of the configuration that these scenes belong to.
        var scenesRevision: Int?

        /// Notes the dead letters that are shown now.
        ///
        /// - Returns: The last versions that were shown before.
        mutating func note(_ shown: ShownLetters) -> [ShownLetters] {
            letters.removeAll { $0 == shown }
            let earlier = letters
            if shown.count > 0 { letters.append(shown) }
            if letters.count > HostConsoleModel.lettersLimit { letters.removeFirst() }
            return earlier
        }
    }

    /// What a search of the outbox has found.
    private struct FoundRecords {
        var page: RecordPage
        /// The outboxes when it began.
        var outboxes: [OutboxReport?]
        /// When it is due again, even if the outboxes are the same.
        var end: UInt64
    }

    private let host: ConnectorHost
    private let outbox: ShownOutbox
    private let commands: CommandLines
    private let clock: any HostClock
    private let plugins: SharedJob<[PluginSummary]>
    private let leaves: SharedJob<[ConfiguredLeaf]>
    private let state = Mutex(State())
    private let plans: ShownPlans
    private let change: AsyncStream<Void>.Continuation
    /// Yields whenever the snapshot may have changed.
    public let changes: AsyncStream<Void>

    /// The maximum number of plugin events kept.
    package static let eventLimit = 500
    /// How many earlier versions of the dead letters are kept.
    private static let lettersLimit = 16
    /// How long a page that a search has found is shown while the outboxes are the same. What they count tells nearly every change.
    private static let searchInterval: Duration = .seconds(10)
    /// The minimum time between two recorded reports.
    private static let interval: Duration = .milliseconds(100)

    /// Creates a model, which follows the host while ``run()`` runs.
    public convenience init(_ host: ConnectorHost) { self.init(host, commands: CommandLines()) }

    /// Creates a model, which follows the host while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - commands: Builds the equivalent command lines.
    ///   - clock: The host's clock, for timestamps.
    ///   - plugins: Finds every plugin; called when a configuration's plugins are first shown, on a thread that it may block.
    package init(
        _ host: ConnectorHost,
        commands: CommandLines = CommandLines(),
        clock: any HostClock = SystemHostClock(),
        plugins: @escaping @Sendable () -> [PluginSummary] = { [] }
    ) {
        self.host = host
        outbox = ShownOutbox(host: host)
        self.commands = commands
        self.clock = clock
        self.plugins = SharedJob(on: host.workers, plugins)
        leaves = SharedJob(on: host.workers) { host.resolved.configuredLeaves() }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.changes, self.change) = (changes, change)
        plans = ShownPlans(host, clock: clock) { change.yield() }
    }

    /// The scenes that the plugins of the configured gates describe; a reload may change them.
    public var scenes: [SceneDescriptor] { pluginScenes.map(\.descriptor) }

    private var pluginScenes: [PluginScene] {
        let revision = host.configurationRevision
        if let scenes = state.withLock({ $0.scenesRevision == revision ? $0.scenes : nil }) { return scenes }
        let resolved = host.resolved
        let leaves = resolved.configuration.enabledLeaves.compactMap { connector, _ in
            (try? resolved.leaves[connector.path]?.get()).map { (connector.path, $0.manifest) }
        }
        let scenes = PluginScene.scenes(of: leaves, besides: Set(ConsoleRegistry.standard.scenes.map(\.root)))
        return state.withLock { state in
            // The answers to the calls of other scenes may have other columns.
            if state.scenes != scenes { state.feeds = PluginFeeds(after: state.feeds) }
            (state.scenes, state.scenesRevision) = (scenes, revision)
            return scenes
        }
    }

    /// Follows the host until the task is cancelled.
    public func run() async {
        let events = host.events(capacity: Self.eventLimit)
        await withTaskGroup { group in
            group.addTask { [self] in
                for await report in host.reports {
                    state.withLock { [clock] in $0.history.note(report, at: clock.wallTime()) }
                    change.yield()
                    // Bounds the cost when many gates keep changing; a state that lasts 100 ms is never missed.
                    guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
                }
            }
            group.addTask { [self] in for await event in events { note(event) } }
            group.addTask { [self] in
                // Sleeps until an absolute time, so a late sample neither delays the next one nor loses a second.
                let clock = ContinuousClock()
                var sampled = clock.now
                while (try? await clock.sleep(until: sampled + .seconds(1))) != nil {
                    let elapsed = Int(clamping: sampled.duration(to: clock.now).components.seconds)
                    sampled += .seconds(elapsed)
                    let (report, durations) = (host.report, host.callDurations)
                    state.withLock { $0.load.sample(report, durations, after: elapsed) }
                    change.yield()
                }
            }
        }
        change.finish()
    }

    private func note(_ event: ConnectorEvent) {
        state.withLock { state in
            state.droppedEvents += event.missed
            if state.events.count == Self.eventLimit {
                state.events.removeFirst()
                state.droppedEvents += 1
            }
            state.events.append(event)
        }
        change.yield()
    }

    /// The current state of the host.
    public func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
        var snapshot = ConsoleSnapshot(time: clock.wallTime(), report: host.report)
        state.withLock { state in
            snapshot.history = state.history
            snapshot.events = state.events
            snapshot.droppedEvents = state.droppedEvents
        }
        snapshot.configuration = host.configuration
        let revision = host.configurationRevision
        state.withLock { state in
            // A reload may have changed the leaves and the plugins.
            if state.revision != revision { (state.leaves, state.plugins) = (nil, nil) }
            state.revision = revision
        }
        snapshot.commands = commands
        snapshot.routes = Set(routes)
        for route in routes {
            switch route.root {
            case Route.gates.root:
                for path in route.parts.dropFirst().prefix(1) {
                    snapshot.capabilities[path] = try? host.gate(path).capabilities
                    snapshot.load[path] = state.withLock { $0.load[path] }
                    snapshot.calls[route] = state.withLock { $0.calls[route] }
                }
            case Route.outbox.root, Route.dead.root: await addRecords(to: &snapshot, for: route)
            case Route.plugins.root:
                snapshot.plugins = await found(\.plugins, of: revision, plugins)
                snapshot.images = host.heldImages
            case Route.configuration.root: snapshot.leaves = await found(\.leaves, of: revision, leaves)
            case Route.plan.root:
                snapshot.plan = plans.plan(of: revision)
                snapshot.earlierPlans = plans.earlier
            default: pluginScenes.first { $0.root == route.root }.map(callOperations)
            }
        }
        snapshot.feeds = state.withLock(\.feeds.feeds)
        return snapshot
    }

    /// Begins the calls that are due for a plugin's scene.
    private func callOperations(of scene: PluginScene) {
        let (calls, epoch) = state.withLock { [clock] in
            ($0.feeds.calls(for: scene, at: clock.now()), $0.feeds.epoch)
        }
        for (key, gate, component) in calls {
            Task.detached { [self] in
                let result: Result<[[String]], ConnectorError>
                do throws(ConnectorError) {
                    let answer = try await host.gate(gate).call(component.operation ?? "", component.arguments)
                    result = .success(PluginFeed.rows(of: host.redacted(answer), component))
                } catch {
                    result = .failure(error)
                }
                let due = clock.now() + component.interval.nanoseconds
                state.withLock { if $0.feeds.epoch == epoch { $0.feeds.end(key, result, next: due) } }
                change.yield()
            }
        }
    }

    private func addRecords(to snapshot: inout ConsoleSnapshot, for route: Route) async {
        do throws(ConnectorError) {
            guard let list = RecordList(route) else {
                snapshot.found += try await host.outboxRecords(RecordSelection(ids: Set(route.parts.dropFirst())))
                return
            }
            let page = try await page(of: list, route, snapshot)
            snapshot.records[route] = page
            guard list.state == .dead, list.isWhole else { return }
            snapshot.earlierLetters = state.withLock { $0.note(page.shownLetters) }
        } catch {
            snapshot.failure = error
        }
    }

    /// A page of a list of events. A search reads many more events than it shows, so its page is kept while nothing changes.
    private func page(
        of list: RecordList,
        _ route: Route,
        _ snapshot: ConsoleSnapshot
    ) async throws(ConnectorError) -> RecordPage {
        guard !list.search.isEmpty else { return try await outbox.page(of: list, at: snapshot.time) }
        let (outboxes, now) = (snapshot.report.gates.map(\.outbox), clock.now())
        let known = state.withLock { state in
            state.searches = state.searches.filter { now < $0.value.end }
            return state.searches[route]
        }
        if let known, known.outboxes == outboxes { return known.page }
        let page = try await outbox.page(of: list, at: snapshot.time)
        let end = now.saturatingAdding(Self.searchInterval.nanoseconds)
        state.withLock { $0.searches[route] = FoundRecords(page: page, outboxes: outboxes, end: end) }
        return page
    }

    /// What a search finds, kept until a reload brings another configuration.
    ///
    /// - Parameter revision: The revision of the configuration that the search belongs to. What is found after the next reload is not
    ///   kept.
    private func found<Value: Sendable>(
        _ member: any WritableKeyPath<State, Value?> & Sendable,
        of revision: Int,
        _ search: SharedJob<Value>
    ) async -> Value {
        if let found = state.withLock({ $0[keyPath: member] }) { return found }
        let found = await search.result()
        state.withLock { if $0.revision == revision { $0[keyPath: member] = found } }
        return found
    }

    /// Performs an act on the host.
    public func perform(_ act: ConsoleAct) async -> ActOutcome {
        do throws(ConnectorError) {
            return ActOutcome(try await result(of: act))
        } catch {
            return .failure(of: act, error)
        }
    }

    private func result(of act: ConsoleAct) async throws(ConnectorError) -> String {
        switch (act.verb, act.subject.kind) {
        case (_, .application): throw Self.impossible
        case (.retry, .gate(let path)):
            try host.requireNotClosing()
            return Self.state(of: path, in: try await host.retry(path))
        case (.open, .gate(let path)):
            try host.requireNotClosing()
            return Self.state(of: path, in: try await host.open(path))
        case (.close, .gate(let path)):
            try await host.close(path)
            return Self.state(of: path, in: host.report)
        case (.plan, .plan):
            plans.forget()
            return "the plan is made again"
        case (.apply, .plan(let basis?)): return try await apply(basis)
        case (.replay, _):
            let (count, left) = try await outbox.replay(act.subject)
            return Self.count("replayed", count) + (left.map { "; \($0.message)" } ?? "")
        case (.drop, _): return Self.count("dropped", try await outbox.drop(act.subject))
        case (.call, .operation(let name, let path, let arguments, let isDelivered)):
            return try await recordingCall(act, at: .operation(name, of: path)) { progress throws(ConnectorError) in
                let gate = try host.gate(path)
                var options = CallOptions(onProgress: progress)
                options.keepsTimeout = true
                if isDelivered { return .receipt(try await gate.send(name, arguments, options: options)) }
                return .answer(try await gate.call(name, arguments, options: options))
            }
        default: throw Self.impossible
        }
    }

    /// The error of an act whose verb does not fit what it names.
    static var impossible: ConnectorError {
        ConnectorError(.unsupported, "a host cannot do this with what the act names")
    }

    /// Applies a plan that was shown; a new one is made afterwards.
    private func apply(_ basis: Plan.Basis) async throws(ConnectorError) -> String {
        let reload = await host.reload(ifStill: basis)
        plans.forget()
        try reload.requireActive()
        let failed =
            reload.rolledBack.isEmpty ? "" : "; gone on as before: \(reload.rolledBack.joined(separator: ", "))"
        return "applied: \(reload.plan?.summary ?? "")\(failed)"
    }

    /// The result of a call.
    private enum CallResult {
        case answer(JSONValue)
        case receipt(Receipt)
    }

    /// Makes a call, and records its progress and result in the call history.
    private func recordingCall(
        _ act: ConsoleAct,
        at route: Route,
        _ call: (_ progress: @escaping @Sendable (JSONValue) -> Void) async throws(ConnectorError) -> CallResult
    ) async throws(ConnectorError) -> String {
        let started = ContinuousClock().now
        let number = state.withLock { [clock] in $0.calls.begin(ConsoleCall(act, at: clock.wallTime()), at: route) }
        let note = { @Sendable [self] (_ body: @Sendable (inout ConsoleCall) -> Void) in
            state.withLock { $0.calls.update(number, at: route, body) }
            change.yield()
        }
        change.yield()
        do throws(ConnectorError) {
            let result = try await call { progress in note { $0.note(progress) } }
            let duration = ContinuousClock().now - started
            switch result {
            case .answer(let answer):
                note { $0.end(answer, after: duration) }
                return "\(act.title): done in \(duration.brief)"
            case .receipt(let receipt):
                if let loss = receipt.loss { throw loss }
                note { $0.end(receipt, after: duration) }
                return receipt.connectors.isEmpty ? "delivered \(receipt.id)" : "stored \(receipt.id), see /outbox"
            }
        } catch {
            let duration = ContinuousClock().now - started
            note { $0.end(error, after: duration) }
            throw error
        }
    }

    private static func count(_ done: String, _ count: Int) -> String {
        "\(done) \(count) dead letter\(count == 1 ? "" : "s")"
    }

    private static func state(of path: String, in report: Report) -> String {
        guard let gate = report[path] else { return "\(path) is gone" }
        let isDown = gate.state == .failed || gate.state == .degraded
        let reason = isDown ? gate.error.map { ": \($0.message)" } : nil
        return "\(path) is \(gate.state.rawValue)\(reason ?? "")"
    }
}
