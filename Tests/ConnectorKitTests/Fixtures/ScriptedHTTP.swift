// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Answers requests from a script, one answer after the other, and remembers what it was asked.
final class ScriptedHTTP: HTTPService {
    /// What comes back for one request.
    enum Answer: Sendable {
        case response(HTTPResponse)
        case failure(PluginError)
        /// A response in parts.
        case stream(HTTPStream)
    }

    private struct State {
        var answers: [Answer]
        var requests: [HTTPRequest] = []
        var deadlines: [UInt64] = []
        /// Requests whose bodies come in parts, from their beginning on.
        var beginning: [HTTPRequest] = []
    }

    private let state: Mutex<State>
    /// How much of a body that comes in parts is read before the answer; nil for all.
    private let bodyLimit: Int?
    /// How long each request takes, by which clock; nil for no time.
    private let delay: (Duration, StoppedClock)?

    init(_ answers: [Answer], bodyLimit: Int? = nil, delay: (Duration, StoppedClock)? = nil) {
        (self.bodyLimit, self.delay) = (bodyLimit, delay)
        state = Mutex(State(answers: answers))
    }

    /// Answers with these statuses and texts.
    convenience init(_ answers: (Int, String)...) {
        self.init(answers.map { .response(HTTPResponse(status: $0.0, body: Array($0.1.utf8))) })
    }

    /// Everything that was sent so far.
    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The deadlines of the calls that sent the requests.
    var deadlines: [UInt64] { state.withLock { $0.deadlines } }

    /// Every request whose body comes in parts, from its beginning on, without its body.
    var beginning: [HTTPRequest] { state.withLock { $0.beginning } }

    /// The paths of the requests, without queries.
    var paths: [String] {
        requests.map { String($0.url.description.dropFirst($0.url.origin.count).prefix { $0 != "?" }) }
    }

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        try await stream(request, silence: nil).response(limit: 1 << 20)
    }

    func stream(_ request: HTTPRequest, body: HTTPUpload?, silence: Duration?) async throws(PluginError) -> HTTPStream {
        var request = request
        if let body {
            state.withLock { $0.beginning.append(request) }
            while let part = try await body.next() {
                request.body += part
                // A server may answer before the end.
                if let limit = bodyLimit, request.body.count > limit { break }
            }
        }
        let answer = state.withLock { [request] state -> Answer? in
            state.requests.append(request)
            state.deadlines.append(Deadline.current)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        if let (duration, clock) = delay { try await clock.sleep(for: duration) }
        switch answer {
        case .response(let response): return HTTPStream(response)
        case .stream(let stream): return stream
        case .failure(let failure): throw failure
        case nil: throw PluginError(.unavailable, "the script is over", domain: "test")
        }
    }
}

extension HTTPRequest {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON; null if it is not JSON.
    var jsonBody: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
}
