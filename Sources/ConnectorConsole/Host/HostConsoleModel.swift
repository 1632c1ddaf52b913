// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

/// What a console knows of a host in the same process.
package final class HostConsoleModel: ConsoleModel {
    private struct State {
        var history = HostHistory()
        var load = LoadHistory()
        var events: [ConnectorEvent] = []
        var forgotten = 0
        var plugins: [PluginSummary]?
        var calls = CallBook()
    }

    private let host: ConnectorHost
    private let commands: CommandLines
    private let clock: any HostClock
    private let findPlugins: @Sendable () -> [PluginSummary]
    private let state = Mutex(State())
    private let change: AsyncStream<Void>.Continuation
    package let changes: AsyncStream<Void>

    /// The most events of plugins that are kept.
    package static let eventLimit = 500
    /// The shortest time between two looks at the states.
    private static let interval: Duration = .milliseconds(100)
    /// The most events of the outbox that are shown.
    package static let recordLimit = 200

    /// Looks at a host from ``run()`` on.
    ///
    /// - Parameters:
    ///   - commands: How command lines are made that do the same.
    ///   - clock: The host's clock.
    ///   - plugins: Finds every plugin; called at most once, on a thread that it may hold.
    package init(
        _ host: ConnectorHost,
        commands: CommandLines = CommandLines(),
        clock: any HostClock = SystemHostClock(),
        plugins: @escaping @Sendable () -> [PluginSummary] = { [] }
    ) {
        self.host = host
        self.commands = commands
        self.clock = clock
        findPlugins = plugins
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Follows the host until the task is cancelled.
    package func run() async {
        let events = host.events(capacity: Self.eventLimit)
        await withTaskGroup { group in
            group.addTask { [self] in
                for await report in host.reports {
                    state.withLock { [clock] in $0.history.note(report, at: clock.wallTime()) }
                    change.yield()
                    // Of a thousand gates that change all the time, each state is seen that lasts a tenth of a second.
                    guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
                }
            }
            group.addTask { [self] in for await event in events { note(event) } }
            group.addTask { [self] in
                while (try? await Task.sleep(for: .seconds(1))) != nil {
                    let (report, durations) = (host.report, host.callDurations)
                    state.withLock { $0.load.sample(report, durations) }
                    change.yield()
                }
            }
        }
        change.finish()
    }

    private func note(_ event: ConnectorEvent) {
        state.withLock { state in
            state.forgotten += event.missed
            if state.events.count == Self.eventLimit {
                state.events.removeFirst()
                state.forgotten += 1
            }
            state.events.append(event)
        }
        change.yield()
    }

    package func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
        var snapshot = ConsoleSnapshot(time: clock.wallTime(), report: host.report)
        state.withLock { state in
            snapshot.history = state.history
            snapshot.events = state.events
            snapshot.forgottenEvents = state.forgotten
        }
        snapshot.configuration = host.configuration
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
            case Route.plugins.root: snapshot.plugins = await plugins()
            default: break
            }
        }
        return snapshot
    }

    private func addRecords(to snapshot: inout ConsoleSnapshot, for route: Route) async {
        do throws(ConnectorError) {
            switch route {
            case .outbox: snapshot.waiting = try await records(.queued)
            case .dead: snapshot.dead = try await records(.dead)
            default:
                if let list = LaterRecords(route) {
                    snapshot.later[route] = try await records(list.state, after: list.place)
                } else {
                    snapshot.found += try await host.outboxRecords(RecordSelection(ids: Set(route.parts.dropFirst())))
                }
            }
        } catch {
            snapshot.failure = error
        }
    }

    private func records(
        _ state: OutboxRecord.State,
        after place: RecordPlace? = nil
    ) async throws(ConnectorError) -> [OutboxRecord] {
        try await host.outboxRecords(RecordSelection(states: [state], limit: Self.recordLimit, after: place))
    }

    private func plugins() async -> [PluginSummary] {
        if let plugins = state.withLock(\.plugins) { return plugins }
        let plugins = await Task.detached { [findPlugins] in findPlugins() }.value
        state.withLock { $0.plugins = plugins }
        return plugins
    }

    package func perform(_ act: ConsoleAct) async -> String {
        do throws(ConnectorError) {
            return try await result(of: act)
        } catch {
            return "\(act.title) failed: \(error.message) [\(error.code.rawValue)]"
        }
    }

    private func result(of act: ConsoleAct) async throws(ConnectorError) -> String {
        switch (act.verb, act.subject) {
        case (.retry, .gate(let path)): return Self.state(of: path, in: try await host.retry(path))
        case (.open, .gate(let path)): return Self.state(of: path, in: try await host.open(path))
        case (.close, .gate(let path)):
            try await host.close(path)
            return Self.state(of: path, in: host.report)
        case (.replay, let subject): return Self.count("replayed", try await host.replay(Self.selection(subject)))
        case (.drop, let subject): return Self.count("dropped", try await host.drop(Self.selection(subject)))
        case (.call, .operation(let name, let path, let arguments, let isDelivered)):
            return try await noting(act, at: .operation(name, of: path)) { progress throws(ConnectorError) in
                let gate = try host.gate(path)
                if isDelivered { return .receipt(try await gate.send(name, arguments)) }
                return .answer(try await gate.call(name, arguments, options: CallOptions(onProgress: progress)))
            }
        case (.retry, _), (.open, _), (.close, _), (.call, _): return "nothing to do"
        }
    }

    /// What a call returns.
    private enum CallResult {
        case answer(JSONValue)
        case receipt(Receipt)
    }

    /// Makes a call, and takes note of what becomes of it.
    private func noting(
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
                note { $0.end(receipt, after: duration) }
                return receipt.connectors.isEmpty ? "delivered \(receipt.id)" : "stored \(receipt.id), see /outbox"
            }
        } catch {
            let duration = ContinuousClock().now - started
            note { $0.end(error, after: duration) }
            throw error
        }
    }

    private static func selection(_ subject: ConsoleAct.Subject) -> RecordSelection {
        switch subject {
        case .gate(let path), .operation(_, of: let path, _, isDelivered: _):
            RecordSelection(targets: [path], states: [.dead])
        case .letter(let id, let connector):
            RecordSelection(targets: connector.map { [$0] }, ids: [id], states: [.dead])
        case .letters: RecordSelection(states: [.dead])
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
