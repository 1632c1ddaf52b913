// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import ConnectorBase

/// A message from a server: a response, or a stored event.
struct NATSMessage: Sendable {
    /// The subject of its acknowledgement; empty for none.
    var reply: String
    /// The status of a message without content, such as 404; otherwise nil.
    var status: Int?
    /// What the server says about the status; nil for nothing.
    var words: String?
    /// The subject of a stored message; nil for a response.
    var subject: String?
    /// The sequence number, if the message was read by it; otherwise nil.
    var sequence: Int64?
    /// When the server stored the message, if it was read by its sequence number; otherwise nil.
    var time: Timestamp?
    /// The message id, by which the server detects duplicates.
    var id: String?
    /// The header of the event: see ``NATSEvent/header(_:)``.
    var event: String?
    /// The header of a dead letter: see ``NATSEvent/failureHeader(position:at:count:_:)``.
    var failure: String?
    /// The content.
    var data: [UInt8]
    /// Whether the server has left out the content, and says only how long it is.
    var isHeadersOnly = false

    /// Copies a message.
    init(_ message: OpaquePointer) {
        func header(_ name: String) -> String? {
            unsafe cnats_header(message, name).map { unsafe String(cString: $0) }
        }
        reply = unsafe cnats_reply(message).map { unsafe String(cString: $0) } ?? ""
        status = header("Status").flatMap { Int($0) }
        words = status == nil ? nil : header("Description")
        id = header("Nats-Msg-Id")
        event = header("Connector-Event")
        failure = header("Connector-Failure")
        data = unsafe Array(UnsafeRawBufferPointer(start: cnats_data(message), count: cnats_size(message)))
        isHeadersOnly = data.isEmpty && header("Nats-Msg-Size") != nil
    }

    /// Stands for the response to a request that the server has denied, and to which it sends none.
    ///
    /// - Parameter words: What the server says about it.
    init(denial words: String) {
        (reply, status, self.words, data) = ("", Self.denied, words, [])
    }

    /// The status of ``init(denial:)``.
    static let denied = 403

    /// Parses a stored message in the format of JetStream's API: header lines and content in Base64. Nil if it is invalid.
    init?(stored: JSONValue) {
        guard let sequence = stored["seq"]?.integer, (1..<Int64.max).contains(sequence),
            let data = Base64.decode(stored["data"]?.string ?? ""),
            let headers = Base64.decode(stored["hdrs"]?.string ?? "")
        else { return nil }
        let lines = headers.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
        func header(_ name: String) -> String? {
            lines.first { $0.hasPrefix("\(name):") }.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
        reply = ""
        subject = stored["subject"]?.string
        self.sequence = sequence
        time = stored["time"]?.string.flatMap { Timestamp(parsing: $0) }
        id = header("Nats-Msg-Id")
        event = header("Connector-Event")
        failure = header("Connector-Failure")
        self.data = data
    }
}

/// The headers of a message to send.
struct NATSHeaders: Sendable {
    /// The message id, by which the server detects duplicates.
    var id: String?
    /// The header of the event: see ``NATSEvent/header(_:)``.
    var event: String?
    /// The header of a dead letter: see ``NATSEvent/failureHeader(position:at:count:_:)``.
    var failure: String?

    /// Their size in a message, in bytes.
    var size: Int {
        [("Nats-Msg-Id", id), ("Connector-Event", event), ("Connector-Failure", failure)]
            .reduce("NATS/1.0\r\n\r\n".utf8.count) { size, header in
                size + (header.1.map { header.0.utf8.count + ": \r\n".utf8.count + $0.utf8.count } ?? 0)
            }
    }
}
