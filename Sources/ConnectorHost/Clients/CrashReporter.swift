// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
public import ConnectorOutbox

/// The `crash/1` interface an application depends on: a ``CrashClient`` in production, `InMemoryCrashReporter` in
/// tests.
public protocol CrashReporter: Sendable {
    /// Reports an exception.
    @discardableResult
    func exception(_ report: CrashReport, options: CallOptions) async throws(ConnectorError) -> Receipt

    /// Sends a report, as an exception if it has one and as a message otherwise.
    @discardableResult
    func send(_ report: CrashReport, options: CallOptions) async throws(ConnectorError) -> Receipt

    /// Delivers a batch and returns one answer per report, in order; one that ``send(_:options:)`` would refuse is rejected by itself.
    func deliver(
        _ reports: [CrashReport],
        options: CallOptions
    ) async throws(ConnectorError) -> [DeliveryAnswer]

    /// Sends the reports still held.
    ///
    /// - Returns: Each vendor's outcome.
    @discardableResult
    func flush(options: CallOptions) async throws(ConnectorError) -> [CallOutcome]
}

extension CrashReporter {
    /// Reports an error that the application survived.
    ///
    /// - Parameters:
    ///   - error: The error; its type and description become the exception. Swift errors carry no stack.
    ///   - tags: Short values to search by.
    ///   - options: The timeout of the call.
    /// - Returns: Once the report is in the outbox, or with direct delivery once the vendors have accepted it.
    @discardableResult
    public func report(
        _ error: any Error,
        tags: [String: String] = [:],
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await exception(CrashReport(of: error, tags: tags), options: options)
    }

    /// Reports a message.
    @discardableResult
    public func message(
        _ text: String,
        level: CrashReport.Level = .info,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt {
        try await send(CrashReport(level: level, message: text), options: options)
    }

    /// Reports an exception, with the default timeout.
    @discardableResult
    public func exception(_ report: CrashReport) async throws(ConnectorError) -> Receipt {
        try await exception(report, options: CallOptions())
    }

    /// Sends a report with the default timeout, as an exception if it has one and as a message otherwise.
    @discardableResult
    public func send(_ report: CrashReport) async throws(ConnectorError) -> Receipt {
        try await send(report, options: CallOptions())
    }

    /// Delivers a batch with the default timeout and returns one answer per report, in order.
    public func deliver(_ reports: [CrashReport]) async throws(ConnectorError) -> [DeliveryAnswer] {
        try await deliver(reports, options: CallOptions())
    }

    /// Sends the reports still held, with the default timeout.
    @discardableResult
    public func flush() async throws(ConnectorError) -> [CallOutcome] { try await flush(options: CallOptions()) }
}
