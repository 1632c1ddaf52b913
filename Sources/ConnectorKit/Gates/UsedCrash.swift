// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities

/// `crash/1` at a used gate.
///
/// A call returns once the vendor has the report: the outbox belongs to the application, and holds no plugin's reports.
public struct UsedCrash: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `crash/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Reports an error that the plugin survived.
    ///
    /// - Parameters:
    ///   - error: The error, whose type and description become the exception.
    ///   - tags: Short, searchable values by name.
    @discardableResult
    public func report(
        _ error: any Error,
        tags: [String: String] = [:]
    ) async throws(PluginError) -> DeliveryAnswer {
        try await send(CrashReport(of: error, tags: tags))
    }

    /// Sends a report, as an exception if it has one and as a message otherwise.
    ///
    /// - Returns: The vendor's answer, with its own id for the report if it gives one.
    @discardableResult
    public func send(_ report: CrashReport) async throws(PluginError) -> DeliveryAnswer {
        let operation = report.exceptions.isEmpty ? "message" : "exception"
        return try await gate.call(operation, ["report": report.json]) { json throws(ConnectorError) in
            try DeliveryAnswer(json: json)
        }
    }
}
