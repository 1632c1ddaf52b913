// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import ConnectorBase

/// What a server sent: an answer, or a stored event.
struct NATSMessage: Sendable {
    /// Where an acknowledgement goes; empty for nowhere.
    var reply: String
    /// What a message without content says, such as 404; nil for one with content.
    var status: Int?
    /// The subject of a stored message that was asked for.
    var subject: String?
    /// The number of a stored message that was asked for.
    var sequence: Int64?
    /// What the event is, apart from its payload.
    var event: String?
    /// Why the event is a dead letter.
    var failure: String?
    /// The content.
    var data: [UInt8]

    /// Copies a message.
    init(_ message: OpaquePointer) {
        func header(_ name: String) -> String? {
            unsafe cnats_header(message, name).map { unsafe String(cString: $0) }
        }
        reply = unsafe cnats_reply(message).map { unsafe String(cString: $0) } ?? ""
        status = header("Status").flatMap { Int($0) }
        event = header("Connector-Event")
        failure = header("Connector-Failure")
        data = unsafe Array(UnsafeRawBufferPointer(start: cnats_data(message), count: cnats_size(message)))
    }

    /// Reads a stored message as JetStream's API writes it: the headers as lines, and they and the content in Base64.
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
        event = header("Connector-Event")
        failure = header("Connector-Failure")
        self.data = data
    }
}

/// The headers of a message to send.
struct NATSHeaders: Sendable {
    /// By which the server recognises a repetition.
    var id: String?
    /// What the event is, apart from its payload.
    var event: String?
    /// Why the event is a dead letter.
    var failure: String?
}
