// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
public import ConnectorCapabilities
internal import Synchronization

/// A stand-in for a used gate of `crash/1`, which keeps the reports and accepts each one.
public final class CrashDouble: Sendable {
    private let received = Mutex<[CrashReport]>([])

    /// Starts without reports.
    public init() {}

    /// The reports so far, oldest first.
    public var reports: [CrashReport] { received.withLock(\.self) }

    /// The closure that answers in the gate's place.
    public var double: GateDoubles.Double {
        { [self] operation, arguments throws(PluginError) in
            let kinds: [String: CrashReport.Kind] = ["exception": .exception, "message": .message]
            guard let kind = kinds[operation], let report = arguments["report"] else {
                throw GateDoubles.unsupported(operation)
            }
            return try GateDoubles.checked { () throws(ConnectorError) in
                let report = try CrashReport(json: report, as: kind)
                received.withLock { $0.append(report) }
                return DeliveryAnswer.accepted(id: report.id).json
            }
        }
    }
}
