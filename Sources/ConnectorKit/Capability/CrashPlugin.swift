// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `crash/1`. Implement ``deliver(_:)``; every operation of the capability calls it.
public protocol CrashPlugin: Plugin {
    /// Delivers reports, and returns an answer for each, in the same order.
    ///
    /// - Throws: A ``PluginError`` if no report was delivered, and no report caused the failure.
    func deliver(_ reports: [CrashReport]) async throws -> [DeliveryAnswer]

    /// Sends the reports that the adapter still holds; does nothing by default.
    func flush() async throws
}

extension CrashPlugin {
    /// Does nothing, which suits an adapter that holds no reports.
    public func flush() async throws {}

    /// The operation `exception`; returns the vendor's id for the report, if there is one.
    public func exception(report: JSONValue) async throws -> JSONValue { try await deliver(report, as: .exception) }

    /// The operation `message`; returns the vendor's id for the report, if there is one.
    public func message(report: JSONValue) async throws -> JSONValue { try await deliver(report, as: .message) }

    /// The operation `deliver`: rejects reports that it cannot read, and delivers the others.
    public func deliver(reports: JSONValue) async throws -> JSONValue {
        try await answers(to: reports, named: "reports") { json, path throws(ConnectorError) in
            try CrashReport(json: json, path: path)
        } deliver: { reports in
            try await deliver(reports)
        }
    }

    private func deliver(_ json: JSONValue, as kind: CrashReport.Kind) async throws -> JSONValue {
        try await acceptedAnswer(to: [CrashReport(json: json, as: kind)]) { try await deliver($0) }.json
    }
}
