// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorServices
internal import ConnectorSimulator
internal import Synchronization

/// Asks a simulated vendor in this process, fills in secrets as the host does, and falsifies one answer if told to.
final class SimulatedHTTP: HTTPService {
    /// A request by its place among those of its method.
    struct Question: Hashable, Sendable {
        var method: HTTPRequest.Method
        var number: Int
    }

    private struct State {
        /// Set once the operation has been prepared.
        var isWatching = false
        var falsified: (question: Question, answer: FalseAnswer)?
        var questions: [Question] = []
        var wasFalsified = false
        /// Damages every answer.
        var mutator: AnswerMutator?
    }

    private let simulator: Simulator
    private let vendor: String
    private let configuration: [String: String]
    private let state = Mutex(State())
    /// Held while faults are in force, which are those of one request: Segment's adapter asks two things at once.
    private let exchange = Mutex(())

    /// - Parameters:
    ///   - configuration: The fields of the adapter, secrets included.
    ///   - isAccepted: Whether the vendor accepts them in place of its demonstration's.
    init(_ vendor: String, configuration: [String: String], isAccepted: Bool = false) throws {
        var options = SimulatorOptions()
        options.vendors = [vendor]
        if isAccepted { options.credentials = [vendor: [configuration]] }
        simulator = try Simulator(options)
        self.vendor = vendor
        self.configuration = configuration
    }

    /// Counts requests from now on, and falsifies the answer to one of them.
    func watch(falsifying falsified: (question: Question, answer: FalseAnswer)?) {
        state.withLock { ($0.isWatching, $0.falsified) = (true, falsified) }
    }

    /// Damages every answer from now on.
    func watch(damaging mutator: AnswerMutator) {
        state.withLock { $0.mutator = mutator }
    }

    /// What was asked since.
    var questions: [Question] { state.withLock { $0.questions } }

    /// Everything that the vendor received.
    var received: [RecordedRequest] { simulator.received() }

    /// Whether an answer was replaced by one that differs.
    var wasFalsified: Bool { state.withLock { $0.wasFalsified } }

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        let lie = state.withLock { state -> FalseAnswer? in
            guard state.isWatching else { return nil }
            let number = state.questions.count { $0.method == request.method }
            let question = Question(method: request.method, number: number)
            state.questions.append(question)
            return state.falsified?.question == question ? state.falsified?.answer : nil
        }
        guard let lie else {
            let response = answer(to: request, faults: [])
            return state.withLock { $0.mutator?.mutate(response) ?? response }
        }
        // If somebody else answers, the vendor never sees the request.
        let response = answer(to: request, faults: lie.fault.map { [Fault($0, of: vendor)] } ?? [])
        let falsehood = lie.applied(to: response)
        state.withLock { $0.wasFalsified = lie.fault != nil || falsehood != response }
        return falsehood
    }

    private func answer(to request: HTTPRequest, faults: [Fault]) -> HTTPResponse {
        var headers = HTTPFields()
        for field in request.headers { headers.append(field.name, revealed(field.value)) }
        let url = revealed(request.url.description)
        let body = request.hasPlaceholdersInBody ? Array(revealed(request.text).utf8) : request.body
        let target = String(url.dropFirst(request.url.origin.count))
        let host = request.url.origin.drop { $0 != "/" }.dropFirst(2)
        headers["Host"] = String(host)
        let simulated = SimulatedRequest(request.method.rawValue, target, headers: headers, body: body)
        return exchange.withLock { _ in
            simulator.setFaults(faults)
            defer { simulator.setFaults([]) }
            var response = simulator.answer(simulated).response
            guard request.method == .head else { return response }
            response.headers["Content-Length"] = "\(response.body.count)"
            response.body = []
            return response
        }
    }

    /// The text with secrets in place of placeholders.
    private func revealed(_ text: String) -> String {
        let expansion = try? SecretTemplate(Array(text.utf8))
            .expanded(.verbatim, limit: 1 << 20, isStrict: false) { configuration[$0] }
        return expansion.map { String(decoding: $0.bytes, as: UTF8.self) } ?? text
    }
}
