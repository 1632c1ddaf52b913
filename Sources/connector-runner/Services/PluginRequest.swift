// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorInvocation
internal import ConnectorPlatform

/// The callbacks of a plugin's request, in a form that crosses threads.
///
/// Sendable: services/http.h says that they may run on any thread of the host. `user` belongs to the plugin.
@safe
struct PluginRequest: Sendable {
    nonisolated(unsafe) let done: connector_http_done
    let part: connector_http_part?
    let room: connector_http_room?
    nonisolated(unsafe) let user: UnsafeMutableRawPointer?
    /// The operation that made the request.
    let trace: TraceContext

    func call(_ body: () -> Void) {
        unsafe PluginCode.running(unsafeBitCast(done, to: UnsafeRawPointer.self)) { trace.run(body) }
    }
}

/// The callback of a plugin's call of another gate, in a form that crosses threads.
///
/// Sendable: services/gates.h says that `done` may run on any thread of the host. `user` belongs to the plugin.
@safe
struct PluginGateCall: Sendable {
    nonisolated(unsafe) let done: connector_gates_done
    nonisolated(unsafe) let user: UnsafeMutableRawPointer?
    /// The operation that made the call.
    let trace: TraceContext

    func call(_ body: () -> Void) {
        unsafe PluginCode.running(unsafeBitCast(done, to: UnsafeRawPointer.self)) { trace.run(body) }
    }
}
