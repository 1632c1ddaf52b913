// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorPlatform

/// The callback that completes a plugin's call of a gate that it uses, in a form that crosses threads.
///
/// Sendable: services/gates.h says that `done` may run on any thread of the host. `user` belongs to the plugin, and the
/// host never dereferences it. The plugin keeps both valid until `done` has run.
@safe package struct GatesCallback: Sendable {
    private nonisolated(unsafe) let done: connector_gates_done
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Wraps a function and its argument.
    package init(_ done: connector_gates_done, user: UnsafeMutableRawPointer?) {
        unsafe self.done = done
        unsafe self.user = user
    }

    /// Calls into the plugin, on the current thread.
    package func call(_ result: Result<[UInt8], ServiceFailure>) {
        unsafe PluginCode.running(unsafeBitCast(done, to: UnsafeRawPointer.self)) {
            switch result {
            case .success(let json):
                unsafe json.withUnsafeBytes { bytes in
                    let text = unsafe bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    unsafe done(user, Int32(CONNECTOR_OK), text, UInt64(bytes.count), nil)
                }
            case .failure(let failure):
                var error = failure.error
                unsafe done(user, failure.status, nil, 0, &error)
            }
        }
    }
}
