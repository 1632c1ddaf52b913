// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorHost
public import ConnectorOutbox
internal import Synchronization

/// A crash reporter for an application's tests: keeps the reports that it receives, and delivers them to no vendor.
///
/// Like the outbox, it keeps only the first report with an `id`, and keeps one whatever the timeout of the call, also in a cancelled
/// task. Use it from any thread.
public final class InMemoryCrashReporter: CrashReporter {
    private struct State {
        var reports: [CrashReport] = []
        var error: ConnectorError?
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp

    /// Starts without reports.
    ///
    /// - Parameter now: The time for reports that have none; by default, the time of day.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp.now }) {
        self.now = now
    }

    /// The reports so far, in the order of their arrival.
    public var reports: [CrashReport] { state.withLock(\.reports) }

    /// The error that every call throws from now on, instead of keeping reports; nil for none.
    public var error: ConnectorError? {
        get { state.withLock(\.error) }
        set { state.withLock { $0.error = newValue } }
    }

    /// Keeps a report.
    ///
    /// - Throws: `invalid` for a report without an exception, or that adapters would refuse otherwise; ``error`` if it is set.
    @discardableResult
    public func exception(_ report: CrashReport, options: CallOptions) async throws(ConnectorError) -> Receipt {
        try keep(report, as: .exception)
    }

    /// Keeps a report.
    ///
    /// - Throws: `invalid` for a report that adapters would refuse; ``error`` if it is set.
    @discardableResult
    public func send(_ report: CrashReport, options: CallOptions) async throws(ConnectorError) -> Receipt {
        try keep(report, as: .any)
    }

    /// Keeps a batch, and accepts each report, except that it rejects one that adapters would refuse.
    public func deliver(
        _ reports: [CrashReport],
        options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let batch = CheckedBatch(reports) { report, index throws(ConnectorError) -> CrashReport in
            _ = try CrashReport(json: report.json, path: "reports[\(index)]")
            return report
        }
        try options.begin("deliver")
        try keep(batch.models)
        return batch.answers(batch.models.map { _ in .accepted })
    }

    /// Does nothing, because no report is held back; throws ``error`` if it is set.
    @discardableResult
    public func flush(options: CallOptions) async throws(ConnectorError) -> [CallOutcome] {
        try options.begin("flush")
        try keep([])
        return [CallOutcome("memory")]
    }

    private func keep(_ report: CrashReport, as kind: CrashReport.Kind) throws(ConnectorError) -> Receipt {
        try report.check(as: kind)
        var report = report
        report.timestamp = report.timestamp ?? now().wholeMilliseconds
        try keep([report])
        return Receipt(id: report.id, connectors: [], outcomes: [CallOutcome("memory")], outbox: nil)
    }

    private func keep(_ reports: [CrashReport]) throws(ConnectorError) {
        try state.withLock { state throws(ConnectorError) in
            if let error = state.error { throw error }
            for report in reports where !state.reports.contains(where: { $0.id == report.id }) {
                state.reports.append(report)
            }
        }
    }
}
