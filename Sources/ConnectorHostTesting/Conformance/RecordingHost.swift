// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

/// The `connector_host` of one instance under test, which records the plugin's calls.
///
/// It is never freed, so that a call after `destroy` becomes a finding and does not crash the suite.
@safe
final class RecordingHost: Sendable {
    /// How a call was completed.
    struct Completion: Sendable {
        let status: Int32
        let result: [UInt8]
        /// The message of a failure.
        let message: String
    }

    /// The table that the plugin receives. Written only in `init`, before it is shared.
    nonisolated(unsafe) let table: UnsafeMutablePointer<connector_host>

    private let services: GateServices
    private let report: @Sendable (PluginConformance.Rule, String) -> Void
    private let trace: RuleTrace
    private let declared: Set<String>
    private let state = Mutex(State())

    private enum Stage {
        case pending
        case refused
        case completed
    }

    private struct State {
        var calls: [UInt64: (name: String, stage: Stage, answer: OneShot<Completion>)] = [:]
        var isDestroyed = false
        /// The services that the plugin has asked for.
        var requested: Set<String> = []
        /// The services that its manifest does not name, of those asked for before `create` returned.
        var undeclared: [String] = []
        var isCreated = false

        /// Whether the plugin has asked for every known service, as bindings that offer them all do. That says nothing about what it
        /// uses.
        var isSurvey: Bool { Manifest.hostServices.allSatisfy(requested.contains) }
    }

    /// The last operation id issued; ids are unique across hosts.
    private static let lastOperation = Atomic<UInt64>(0x5EED_0000)

    /// Allocates the table, which is never freed.
    init(
        _ services: GateServices,
        declared: [String],
        trace: RuleTrace,
        report: @escaping @Sendable (PluginConformance.Rule, String) -> Void
    ) {
        self.services = services
        self.declared = Set(declared)
        self.trace = trace
        self.report = report
        unsafe table = .allocate(capacity: 1)
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe table.initialize(
            to: connector_host(
                struct_size: UInt32(MemoryLayout<connector_host>.size),
                abi_version: UInt32(CONNECTOR_ABI_VERSION),
                context: context,
                service: { unsafe RecordingHost.from($0).service($1, $2) },
                complete: { unsafe RecordingHost.from($0).complete($1, $2, $3, $4, $5) },
                progress: { unsafe RecordingHost.from($0).progress($1, $2, $3) }
            )
        )
    }

    private static func from(_ context: UnsafeMutableRawPointer) -> RecordingHost {
        unsafe Unmanaged<RecordingHost>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: The suite's side

    /// Issues an operation id.
    func begin(_ name: String) -> (operation: UInt64, answer: OneShot<Completion>) {
        let operation = Self.lastOperation.add(1, ordering: .relaxed).newValue
        let answer = OneShot<Completion>()
        state.withLock { $0.calls[operation] = (name, .pending, answer) }
        return (operation, answer)
    }

    /// Records that the plugin refused a call.
    func refused(_ operation: UInt64) {
        let completed = state.withLock { state -> String? in
            guard let call = state.calls[operation] else { return nil }
            if call.stage == .completed { return call.name }
            state.calls[operation]?.stage = .refused
            return nil
        }
        if let completed { report(.completesRefused, "\(completed) was refused after it was completed") }
    }

    /// Records that `destroy` has returned.
    func destroyed() {
        state.withLock { $0.isDestroyed = true }
    }

    // MARK: The plugin's side

    /// Records that the plugin calls a function of a service.
    func serviceIsUsed() {
        guard state.withLock(\.isDestroyed) else { return }
        report(.destroyEnds, "used a service of the host after destroy had returned")
    }

    private func service(_ id: UnsafePointer<CChar>, _ length: UInt64) -> UnsafeRawPointer? {
        let bytes = unsafe UnsafeRawBufferPointer(start: id, count: Int(clamping: min(length, 1024)))
        let name = unsafe String(decoding: bytes, as: UTF8.self)
        trace.add("  the plugin asks for the service \(name)")
        if state.withLock(\.isDestroyed) {
            report(.destroyEnds, "asked for the service \(name) after destroy had returned")
        }
        let isKnown = name == "gates/1" || Manifest.hostServices.contains(name)
        let isUndeclared = state.withLock { state in
            state.requested.insert(name)
            guard !declared.contains(name) else { return false }
            guard isKnown, !state.isCreated else { return !isKnown || !state.isSurvey }
            state.undeclared.append(name)
            return false
        }
        if isUndeclared { reportUndeclared(name) }
        return unsafe services.table(UnsafeRawBufferPointer(start: id, count: Int(clamping: length)))
    }

    private func reportUndeclared(_ name: String) {
        report(.servicesDeclared, "asked for the service \(name), which its manifest does not name")
    }

    /// Reports the services that `create` asked for and the manifest does not name. Called once it has returned.
    func instanceWasCreated() {
        let undeclared = state.withLock { state in
            state.isCreated = true
            return state.isSurvey ? [] : state.undeclared
        }
        for name in undeclared { reportUndeclared(name) }
    }

    private func complete(
        _ operation: UInt64,
        _ status: Int32,
        _ result: UnsafePointer<UInt8>?,
        _ length: UInt64,
        _ error: UnsafePointer<connector_error>?
    ) -> Int32 {
        let (violation, name, answer) = state.withLock {
            state -> (PluginConformance.Finding?, String, OneShot<Completion>?) in
            guard let call = state.calls[operation] else {
                return (.init(.completesOwn, "completed the operation \(operation), never issued to it"), "", nil)
            }
            if state.isDestroyed {
                return (.init(.destroyEnds, "completed \(call.name) after destroy had returned"), call.name, nil)
            }
            switch call.stage {
            case .pending:
                state.calls[operation]?.stage = .completed
                return (nil, call.name, call.answer)
            case .refused:
                return (.init(.completesRefused, "completed \(call.name), which it had refused"), call.name, nil)
            case .completed: return (.init(.completesOnce, "completed \(call.name) twice"), call.name, nil)
            }
        }
        trace.add(
            "  the plugin completes \(name.isEmpty ? "the operation \(operation)" : name): status \(status), \(length) bytes"
        )
        if let violation { report(violation.rule, violation.message) }
        guard let answer else { return Int32(CONNECTOR_UNKNOWN_OPERATION) }
        if status != Int32(CONNECTOR_OK), let error = unsafe error {
            unsafe ErrorObjectCheck.check(connector_error(covered: error), status: status, of: name, report)
        } else if status != Int32(CONNECTOR_OK) {
            ErrorObjectCheck.check(status: status, of: name, report)
        }
        let message = unsafe error.map { unsafe ErrorObjectCheck.message(of: connector_error(covered: $0)) } ?? ""
        answer.send(Completion(status: status, result: unsafe copy(result, length, of: name), message: message))
        return Int32(CONNECTOR_OK)
    }

    private func copy(_ result: UnsafePointer<UInt8>?, _ length: UInt64, of name: String) -> [UInt8] {
        guard length > 0 else { return [] }
        guard unsafe result != nil, length <= 64 << 20 else {
            report(.resultsReadable, "completed \(name) with \(length) bytes: null, or beyond the limit")
            return []
        }
        return unsafe [UInt8](UnsafeBufferPointer(start: result, count: Int(length)))
    }

    private func progress(_ operation: UInt64, _ json: UnsafePointer<CChar>, _ length: UInt64) -> Int32 {
        let isPending = state.withLock { state in
            state.calls[operation].map { $0.stage == .pending && !state.isDestroyed } ?? false
        }
        guard length <= 64 << 10 else { return Int32(CONNECTOR_TOO_LARGE) }
        guard !isPending else { return Int32(CONNECTOR_OK) }
        report(.progressPending, "reported progress of the operation \(operation), which is not pending")
        return Int32(CONNECTOR_UNKNOWN_OPERATION)
    }
}
