// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorServices

/// An instance under test, with its host.
///
/// Sendable: the plugin accepts its pointer from any thread, and the pointer never changes.
@safe
struct ConformanceInstance: Sendable {
    private nonisolated(unsafe) let pointer: UnsafeMutableRawPointer?
    private let table: PluginTable
    /// The host that the plugin calls back.
    let host: RecordingHost
    /// The services lent to the plugin.
    let services: GateServices

    /// The result of `create`.
    struct Creation: Sendable {
        let status: Int32
        /// The plugin's message for a failure.
        let message: String
        let leftInstance: Bool
        let instance: ConformanceInstance
    }

    /// Runs `create` on the current thread.
    ///
    /// - Parameter isWrong: Whether the plugin may fail with `CONNECTOR_MISUSE`, as for a configuration that breaks the rules
    ///   of the ABI.
    static func create(
        _ table: PluginTable,
        _ configuration: [UInt8],
        isWrong: Bool,
        _ host: RecordingHost,
        _ services: GateServices,
        _ report: ErrorObjectCheck.Report
    ) -> Creation {
        var pointer: UnsafeMutableRawPointer?
        var error = ErrorObjectCheck.blank
        // Add one byte so that even an empty text has an address.
        let status = unsafe (configuration + [0]).withUnsafeBufferPointer { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return Int32(CONNECTOR_FAILED) }
                return unsafe table.create(host.table, start, UInt64(configuration.count), &pointer, &error)
            }
        }
        host.instanceWasCreated()
        if status != Int32(CONNECTOR_OK) {
            ErrorObjectCheck.check(error, status: status, of: "create", isMisuse: isWrong, report)
        }
        return Creation(
            status: status,
            message: ErrorObjectCheck.message(of: error),
            leftInstance: unsafe status != Int32(CONNECTOR_OK) && pointer != nil,
            instance: unsafe ConformanceInstance(pointer: pointer, table: table, host: host, services: services)
        )
    }

    /// A step of the life cycle that completes asynchronously.
    enum Step: String, Sendable {
        case open
        case probe
        case close
    }

    /// Whether the plugin implements a step.
    func has(_ step: Step) -> Bool {
        switch step {
        case .open: true
        case .probe: unsafe table.probe != nil
        case .close: unsafe table.close != nil
        }
    }

    /// Starts a step on the current thread.
    ///
    /// - Returns: How the plugin refused the step; nil if it accepted the step.
    func start(
        _ step: Step,
        _ operation: UInt64,
        deadline: UInt64,
        _ report: ErrorObjectCheck.Report
    ) -> RecordingHost.Completion? {
        let function =
            switch step {
            case .open: unsafe table.open
            case .probe: unsafe table.probe
            case .close: unsafe table.close
            }
        let blank = RecordingHost.Completion(status: Int32(CONNECTOR_OK), result: [], message: "")
        guard let function = unsafe function else { return blank }
        var call = connector_call(operation: operation, deadline: deadline)
        var error = ErrorObjectCheck.blank
        let status = unsafe function(pointer, &call, &error)
        guard status != Int32(CONNECTOR_OK) else { return nil }
        host.refused(operation)
        ErrorObjectCheck.check(error, status: status, of: step.rawValue, report)
        return RecordingHost.Completion(status: status, result: [], message: ErrorObjectCheck.message(of: error))
    }

    /// Runs `cancel` on the current thread.
    func cancel(_ operation: UInt64) {
        unsafe table.cancel?(pointer, operation)
    }

    /// Runs `destroy` on the current thread, for an instance that shares its host with others.
    func free() { unsafe table.destroy(pointer) }

    /// Runs `destroy` on the current thread.
    func destroy() {
        unsafe table.destroy(pointer)
        host.destroyed()
        services.invalidate()
    }
}
