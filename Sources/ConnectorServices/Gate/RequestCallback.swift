// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
internal import ConnectorPlatform

/// The callback that completes a plugin's request, in a form that crosses threads.
///
/// Sendable: services/http.h says that `done` may run on any thread of the host. `user` belongs to the plugin, and the
/// host never dereferences it. The plugin keeps both valid until `done` has run.
@safe package struct RequestCallback: Sendable {
    private nonisolated(unsafe) let done: connector_http_done
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Wraps a function and its argument.
    init(_ done: connector_http_done, user: UnsafeMutableRawPointer?) {
        unsafe self.done = done
        unsafe self.user = user
    }

    /// Calls into the plugin, on the current thread.
    package func call(_ result: Result<HTTPResponse, ServiceFailure>) {
        unsafe PluginCode.running(unsafeBitCast(done, to: UnsafeRawPointer.self)) {
            switch result {
            case .success(let reply):
                unsafe reply.withResponse { unsafe done(user, Int32(CONNECTOR_OK), $0, nil) }
            case .failure(let failure):
                var error = failure.error
                unsafe done(user, failure.status, nil, &error)
            }
        }
    }
}
