// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorManifest

/// What receives the end of a plugin's request, on its way to another thread.
///
/// Sendable: services/http.h says that `done` runs on any thread of the host, and `user` is the plugin's own business, which
/// the host never looks behind. Both stay valid until `done` ran: that is the plugin's duty.
@safe package struct RequestCallback: Sendable {
    private nonisolated(unsafe) let done: HTTPService.Done
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Keeps both.
    init(_ done: HTTPService.Done, user: UnsafeMutableRawPointer?) {
        unsafe self.done = done
        unsafe self.user = user
    }

    /// Calls into the plugin.
    package func call(_ result: Result<HTTPResponse, ServiceFailure>) {
        switch result {
        case .success(let reply):
            unsafe reply.withResponse { unsafe done(user, Int32(CONNECTOR_OK), $0, nil) }
        case .failure(let failure):
            var error = failure.error
            unsafe done(user, failure.status, nil, &error)
        }
    }
}
