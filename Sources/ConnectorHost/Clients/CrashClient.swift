// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox

/// Reports crashes and errors through a connector of `connectors.json`.
///
/// ```swift
/// let crash = try host.crash("crash")
/// do { try work() } catch { try await crash.report(error) }
/// ```
///
/// ``CrashReporter`` declares the named calls. Code that takes an `any CrashReporter` can be tested without a host.
///
/// A call returns once the report is in the outbox, also in a cancelled task, or with direct delivery once the vendor has
/// accepted it. Otherwise it throws a `ConnectorError`: `invalid` for a report that adapters would refuse, such as one
/// with neither an exception nor a message; `unsupported` for one that no plugin of the connector takes; `storage` if the
/// report could not be stored; the vendor's own error with a code from <doc:Errors>; `partial` if only some vendors of a
/// composite accepted the report; `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. The `timeout`
/// of the options covers the whole call, including queueing at the gate and the adapter's retries.
///
/// A report without a `timestamp` gets the time of the call. To retry, create the `CrashReport` once, set its `timestamp`, and
/// ``send(_:options:)`` it again: vendors recognize a report that is the same by its `id`.
///
/// A client gives access to its own connector only. Use it from any thread.
public struct CrashClient: CrashReporter {
    private let target: ClientTarget
    /// Defaults for what a report leaves out: release, environment, tags, user, breadcrumbs.
    public var defaults = CrashReport(level: .error)

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// Reports an exception.
    @discardableResult
    public func exception(
        _ report: CrashReport,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await send(report, as: .exception, options)
    }

    /// Delivers a batch and returns one answer per report, in order.
    ///
    /// A report that ``send(_:options:)`` would refuse is rejected by itself, and the others are delivered.
    public func deliver(
        _ reports: [CrashReport],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> [DeliveryAnswer] {
        let batch = CheckedBatch(reports) { report, index throws(ConnectorError) -> JSONValue in
            let json = filled(report).json
            _ = try target.checked { () throws(ConnectorError) in
                try CrashReport(json: json, path: "reports[\(index)]")
            }
            return json
        }
        return try await target.deliver(batch, as: "reports", options) { JSONValue.array($0).utf8() }
    }

    /// Sends a report, as an exception if it has one and as a message otherwise.
    @discardableResult
    public func send(
        _ report: CrashReport,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await send(report, as: .any, options)
    }

    /// Sends the reports adapters still hold.
    ///
    /// - Returns: Each vendor's outcome.
    @discardableResult
    public func flush(options: CallOptions = CallOptions()) async throws(ConnectorError) -> [CallOutcome] {
        try await target.call("flush", CallArguments(texts: []), options).outcomes
    }

    private func send(
        _ report: CrashReport,
        as kind: CrashReport.Kind,
        _ options: CallOptions
    ) async throws(ConnectorError) -> Receipt {
        let report = filled(report)
        try target.checked { () throws(ConnectorError) in try report.check(as: kind) }
        let operation = report.exceptions.isEmpty ? "message" : "exception"
        return try await target.send(id: report.id, operation, report.json.utf8(), as: "report", options)
    }

    /// Adds the defaults and the current time to a report that lacks them.
    private func filled(_ report: CrashReport) -> CrashReport {
        var report = report
        report.timestamp = report.timestamp ?? target.now
        report.release = report.release ?? defaults.release
        report.environment = report.environment ?? defaults.environment
        report.user = report.user ?? defaults.user
        report.tags.merge(defaults.tags) { own, _ in own }
        if report.breadcrumbs.isEmpty { report.breadcrumbs = defaults.breadcrumbs }
        return report
    }
}
