// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// A plugin of `crash/1`. Write ``deliver(_:)``; the operations of the manifest follow from it.
public protocol CrashPlugin: Plugin {
    /// Delivers reports, and answers for each one in their order.
    ///
    /// - Throws: A ``PluginError`` if nothing was delivered for a reason that no report is to blame for.
    func deliver(_ reports: [CrashReport]) async throws -> [DeliveryAnswer]

    /// Sends whatever the adapter still holds; does nothing unless it is written.
    func flush() async throws
}

extension CrashPlugin {
    /// Does nothing, which suits every adapter that holds nothing.
    public func flush() async throws {}

    /// The operation `exception`; answers with the vendor's name for the report, if there is one.
    public func exception(report: JSONValue) async throws -> JSONValue { try await deliver(report, as: .exception) }

    /// The operation `message`; answers with the vendor's name for the report, if there is one.
    public func message(report: JSONValue) async throws -> JSONValue { try await deliver(report, as: .message) }

    /// The operation `deliver`: a report that cannot be read is rejected, and the others are delivered.
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
