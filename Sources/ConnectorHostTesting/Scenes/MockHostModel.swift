// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorConsole
public import ConnectorHost
public import ConnectorServices
internal import Synchronization

/// A mock host for tests of scenes: the test sets its report and events, and it records the acts performed on it.
///
/// ```swift
/// let host = MockHostModel([GateReport(path: "geocoder", state: .failed, error: error)])
/// var bench = await SceneBench(host, at: .gates)
/// try await bench.act("retry geocoder")
/// #expect(host.acts.map(\.verb) == [.retry])
/// ```
public final class MockHostModel: ConsoleModel {
    private struct State {
        var report: Report
        var events: [ConnectorEvent] = []
        var acts: [ConsoleAct] = []
    }

    private let state: Mutex<State>
    private let time: Timestamp
    private let answer: @Sendable (ConsoleAct) async -> ActOutcome

    /// Creates a host with gates.
    ///
    /// - Parameters:
    ///   - time: The time of every snapshot; by default, the start of 2026.
    ///   - answer: Gives the outcome of an act on the host; by default, its title and "done".
    public init(
        _ gates: [GateReport] = [],
        time: Timestamp = Timestamp(nanoseconds: 1_767_225_600_000_000_000),
        answer: @escaping @Sendable (ConsoleAct) async -> ActOutcome = { ActOutcome("\($0.title): done") }
    ) {
        state = Mutex(State(report: Report(gates: gates, state: .open)))
        self.time = time
        self.answer = answer
    }

    /// The report of the next snapshots.
    public var report: Report {
        get { state.withLock(\.report) }
        set { state.withLock { $0.report = newValue } }
    }

    /// The events of the next snapshots, oldest first.
    public var events: [ConnectorEvent] {
        get { state.withLock(\.events) }
        set { state.withLock { $0.events = newValue } }
    }

    /// The acts that were performed, oldest first.
    public var acts: [ConsoleAct] { state.withLock(\.acts) }

    /// The report and the events that were set, at the fixed time.
    public func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
        var snapshot = ConsoleSnapshot(time: time, report: report)
        snapshot.events = events
        return snapshot
    }

    /// Records the act, and returns its outcome.
    public func perform(_ act: ConsoleAct) async -> ActOutcome {
        state.withLock { $0.acts.append(act) }
        return await answer(act)
    }
}
