// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorKit
internal import Synchronization

/// `gates/1` of a test: it refuses every call, and remembers which calls of the plugin they were to serve.
@safe
final class LineGates: @unchecked Sendable {
    // Sendable: the table is made in `init` and never changes, everything else is behind the mutex.

    private let state = Mutex<[UInt64]>([])
    private let gates: UnsafeMutablePointer<connector_gates>

    init() {
        unsafe gates = .allocate(capacity: 1)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe gates.initialize(
            to: connector_gates(
                struct_size: UInt32(MemoryLayout<connector_gates>.size),
                flags: 0,
                context: context,
                call: { context, call, _, _, _, _ in
                    unsafe LineGates.of(context).add(call.pointee.during)
                    return PluginStatus.unsupported.rawValue
                },
                cancel: { _, _ in },
                bound: { _, _, _ in 0 }
            )
        )
    }

    deinit { unsafe gates.deallocate() }

    /// What `service` answers.
    var pointer: UnsafeRawPointer { unsafe UnsafeRawPointer(gates) }

    /// The `during` of every call.
    var served: [UInt64] { state.withLock(\.self) }

    private func add(_ during: UInt64) {
        state.withLock { $0.append(during) }
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> LineGates {
        unsafe Unmanaged<LineGates>.fromOpaque(context).takeUnretainedValue()
    }
}
