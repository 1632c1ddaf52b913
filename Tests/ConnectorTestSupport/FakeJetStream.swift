// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

/// What a JetStream with one outbox answers, kept in memory: the stream `OUTBOX`, its dead letters, and a consumer for each connector.
///
/// It leases nothing and forgets nothing. It does as much as the real one as is needed to give every request of the outbox a usable
/// answer, so that a test can damage each of them.
package final class FakeJetStream: Sendable {
    private struct Stored {
        var subject: String
        var event: String
        var payload: [UInt8]
        /// Whether the next pull hands it out.
        var isPending = true
    }

    private struct State {
        var events: [Stored] = []
        var letters: [Stored] = []
    }

    private let paths: [String]
    private let state = Mutex(State())

    /// Prepares the consumers of some connectors, whose names may have only letters.
    package init(_ paths: [String]) {
        self.paths = paths
    }

    /// Answers a request; empty for one that wants no answer.
    package func answer(_ request: FakeNATSServer.Request) -> [[UInt8]] {
        let api = "$JS.API."
        guard request.subject.hasPrefix(api) else { return store(request) }
        let operation = request.subject.dropFirst(api.utf8.count).split(separator: ".").map { String($0) }
        let body = try? JSONValue(parsing: request.payload)
        if operation.starts(with: ["CONSUMER", "MSG", "NEXT"]) { return next(request) }
        return [request.message(answer(operation, body).utf8())]
    }

    private func answer(_ operation: [String], _ body: JSONValue?) -> JSONValue {
        let isDead = operation.contains("OUTBOX-dead")
        switch operation.prefix(2).joined(separator: ".") {
        case "STREAM.INFO": return info(isDead)
        case "CONSUMER.LIST":
            return ["total": .integer(Int64(paths.count)), "consumers": .array(paths.indices.map(consumer))]
        case "CONSUMER.INFO":
            return paths.firstIndex(of: operation.last ?? "").map(consumer) ?? Self.refusal(404, 10_014)
        case "STREAM.MSG": return operation.contains("GET") ? stored(body, isDead) : ["success": true]
        default: return ["success": true]
        }
    }

    private static func refusal(_ code: Int64, _ number: Int64) -> JSONValue {
        ["error": ["code": .integer(code), "err_code": .integer(number), "description": "no"]]
    }

    private func info(_ isDead: Bool) -> JSONValue {
        let count = state.withLock { isDead ? $0.letters.count : $0.events.count }
        var subjects = JSONObject()
        if isDead { for path in paths { subjects["OUTBOX.dead.\(path)"] = .integer(1) } }
        return [
            "config": [
                "name": isDead ? "OUTBOX-dead" : "OUTBOX", "subjects": [isDead ? "OUTBOX.dead.*" : "OUTBOX.e.>"],
                "retention": "limits", "storage": "file", "num_replicas": 1, "discard": "new",
            ],
            "state": [
                "messages": .integer(Int64(count)), "bytes": .integer(Int64(100 * count)), "first_seq": 1,
                "last_seq": .integer(Int64(count)), "subjects": .object(subjects),
            ],
        ]
    }

    private func consumer(_ slot: Int) -> JSONValue {
        let (pending, count) = state.withLock { state in (state.events.count(where: \.isPending), state.events.count) }
        return [
            "config": [
                "durable_name": .string(paths[slot]), "description": .string(paths[slot]), "ack_policy": "explicit",
                "ack_wait": 30_000_000_000,
                "filter_subject": .string("OUTBOX.e.\(String(repeating: "*.", count: slot))1.>"),
            ],
            "num_pending": .integer(Int64(pending)), "num_ack_pending": .integer(Int64(count - pending)),
            "ack_floor": ["stream_seq": 0], "delivered": ["stream_seq": .integer(Int64(count - pending))],
        ]
    }

    private func stored(_ body: JSONValue?, _ isDead: Bool) -> JSONValue {
        let first = Int(body?["seq"]?.integer ?? 1)
        let messages = state.withLock { isDead ? $0.letters : $0.events }
        guard first >= 1, first <= messages.count else { return Self.refusal(404, 10_037) }
        let message = messages[first - 1]
        return [
            "message": [
                "seq": .integer(Int64(first)), "subject": .string(message.subject), "time": "2026-01-01T00:00:00Z",
                "hdrs": .string(Base64.encode(Array("\(message.event)\r\n\r\n".utf8))),
                "data": .string(Base64.encode(message.payload)),
            ]
        ]
    }

    /// Stores a message, or takes an acknowledgement.
    private func store(_ request: FakeNATSServer.Request) -> [[UInt8]] {
        guard request.subject.hasPrefix("OUTBOX.") else { return request.reply == nil ? [] : [request.message([])] }
        let isDead = request.subject.hasPrefix("OUTBOX.dead.")
        let number = state.withLock { state in
            let id = state.events.count + 1
            var event = "NATS/1.0\r\nConnector-Event: 1767225600000000000 analytics=2F1 track event-\(id)"
            if isDead { event += "\r\nConnector-Failure: 1 1767225600000000000 1 invalid no" }
            let message = Stored(subject: request.subject, event: event, payload: request.payload)
            if isDead { state.letters.append(message) } else { state.events.append(message) }
            return isDead ? state.letters.count : state.events.count
        }
        guard request.reply != nil else { return [] }
        return [request.message(Array(#"{"stream":"OUTBOX","seq":\#(number)}"#.utf8))]
    }

    /// Hands out waiting messages, or says that there are none.
    private func next(_ request: FakeNATSServer.Request) -> [[UInt8]] {
        let consumer = request.subject.split(separator: ".").last ?? ""
        let messages = state.withLock { state in
            state.events.indices.filter { state.events[$0].isPending }.map { index in
                state.events[index].isPending = false
                return request.message(
                    state.events[index].payload,
                    subject: state.events[index].subject,
                    reply: "$JS.ACK.OUTBOX.\(consumer).1.\(index + 1).\(index + 1).1767225600000000000.0",
                    headers: state.events[index].event
                )
            }
        }
        return messages + [request.message([], headers: "NATS/1.0 404 No Messages")]
    }
}
