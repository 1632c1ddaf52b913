// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase
internal import ConnectorPlatform

/// The callbacks of a plugin's request, in a form that crosses threads.
///
/// Sendable: services/http.h says that they may run on any thread of the host. `user` belongs to the plugin, and the
/// host never dereferences it. The plugin keeps them valid until `done` has run.
@safe package struct RequestCallback: Sendable {
    private nonisolated(unsafe) let done: connector_http_done
    private let part: connector_http_part?
    private let room: connector_http_room?
    private nonisolated(unsafe) let user: UnsafeMutableRawPointer?

    /// Wraps the function that receives a response as a whole, and its argument.
    package init(_ done: connector_http_done, user: UnsafeMutableRawPointer?) {
        unsafe self.done = done
        unsafe self.user = user
        unsafe (part, room) = (nil, nil)
    }

    /// Wraps the functions of a receiver of parts.
    package init(_ receiver: ResponseReceiver) {
        unsafe (done, part, room, user) = (receiver.done, receiver.part, receiver.room, receiver.user)
    }

    /// Whether the plugin wants to know when it can write the next part of the body.
    package var hasRoom: Bool { unsafe room != nil }

    /// Calls into the plugin with a part of the response, on the current thread.
    package func call(part reply: HTTPResponse) {
        guard let part = unsafe part else { return }
        unsafe PluginCode.running(unsafeBitCast(part, to: UnsafeRawPointer.self)) {
            unsafe reply.withResponse { unsafe part(user, $0) }
        }
    }

    /// Tells the plugin that the next part of the body can be written, on the current thread.
    package func callRoom() {
        guard let room = unsafe room else { return }
        unsafe PluginCode.running(unsafeBitCast(room, to: UnsafeRawPointer.self)) { unsafe room(user) }
    }

    /// Calls into the plugin with the request's outcome, on the current thread.
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
