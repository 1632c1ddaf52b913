// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorInvocation

/// Receives the replies to one request of a plugin in a runner; the service retains it until the last one.
final class RemoteCallback: Sendable {
    private let services: RemoteServices
    /// The runner's number for the request.
    private let token: UInt64

    init(_ services: RemoteServices, _ token: UInt64) {
        self.services = services
        self.token = token
    }

    /// The kind of a reply.
    enum Kind: UInt8 {
        /// The end.
        case done
        /// A part of a response.
        case part
        /// Room for the next part of a body.
        case room
    }

    private func reply(
        _ kind: Kind,
        _ status: Int32,
        _ response: UnsafePointer<connector_http_response>?,
        _ error: UnsafePointer<connector_error>?
    ) -> MessageWriter {
        var message = MessageWriter()
        message.put(token)
        message.put(kind.rawValue)
        message.put(status)
        unsafe ServiceError.put(error, to: &message)
        unsafe message.put(response) { message, response in
            let response = unsafe response.pointee
            unsafe message.put(response.status)
            let fields = unsafe HeaderFields(response.headers, response.header_count)
            message.put(fields?.fields ?? []) { message, field in
                message.put(field.name)
                message.put(field.value)
            }
            let count = unsafe response.body == nil ? 0 : Int(clamping: response.body_length)
            unsafe message.put(UnsafeRawBufferPointer(start: response.body, count: count))
        }
        return message
    }

    /// The message that ends a call of another gate.
    private func gateReply(
        _ status: Int32,
        _ json: UnsafeRawBufferPointer,
        _ error: UnsafePointer<connector_error>?
    ) -> MessageWriter {
        var message = MessageWriter()
        message.put(token)
        message.put(status)
        unsafe ServiceError.put(error, to: &message)
        unsafe message.put(json)
        return message
    }

    private static func from(_ user: UnsafeMutableRawPointer?) -> RemoteCallback? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<RemoteCallback>.fromOpaque(user).takeUnretainedValue()
    }

    /// Ends the request, and releases the service's reference.
    private func finish(_ user: UnsafeMutableRawPointer?) {
        services.forget(token)
        if let user = unsafe user { unsafe Unmanaged<RemoteCallback>.fromOpaque(user).release() }
    }

    /// The status sent instead of an end that is too large for a message.
    private static let tooLarge = Int32(CONNECTOR_TOO_LARGE)

    static let done: connector_http_done = { user, status, response, error in
        guard let callback = unsafe from(user) else { return }
        let message = unsafe callback.reply(.done, status, response, error)
        callback.services.send(.reply, message, orRefusal: unsafe callback.reply(.done, tooLarge, nil, nil))
        unsafe callback.finish(user)
    }

    static let part: connector_http_part = { user, response in
        guard let callback = unsafe from(user) else { return }
        callback.services.send(.reply, unsafe callback.reply(.part, 0, response, nil))
    }

    static let room: connector_http_room = { user in
        guard let callback = unsafe from(user) else { return }
        callback.services.send(.reply, unsafe callback.reply(.room, 0, nil, nil))
    }

    static let gateDone: connector_gates_done = { user, status, json, length, error in
        guard let callback = unsafe from(user) else { return }
        let count = unsafe json == nil ? 0 : Int(clamping: length)
        let json = unsafe UnsafeRawBufferPointer(start: json, count: count)
        let message = unsafe callback.gateReply(status, json, error)
        callback.services.send(
            .gateReply,
            message,
            orRefusal: unsafe callback.gateReply(tooLarge, UnsafeRawBufferPointer(start: nil, count: 0), nil)
        )
        unsafe callback.finish(user)
    }
}
