// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

@testable import Integrator

/// A provider that answers when a test says so, with one exchange for each value of its parameters.
final class ManualProvider: DataProvider {
    /// The request for one parameter.
    private struct Exchange: Sendable {
        /// Sent when the provider is asked.
        let asked = OneShot<Void>()
        /// Sent when the request is cancelled.
        let cancelled = OneShot<Void>()
        /// What the request is answered with.
        let answer = OneShot<Result<String, any Error>>()
    }

    /// The exchanges so far.
    private let exchanges = Mutex<[String: Exchange]>([:])

    /// How many requests run, and the most that ever ran at once.
    private let load = Mutex((running: 0, most: 0))

    /// Everything asked so far, in order.
    let asked = Journal()

    /// Whether a cancelled request goes on until it is answered.
    let ignoresCancellation: Bool

    /// A provider that was asked nothing yet.
    init(ignoresCancellation: Bool = false) {
        self.ignoresCancellation = ignoresCancellation
    }

    /// The most requests that ever ran at once.
    var mostAtOnce: Int { load.withLock { $0.most } }

    /// Waits for the answer of a test.
    func request(_ parameters: String) async throws -> String {
        let exchange = exchange(parameters)
        load.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
        defer { load.withLock { $0.running -= 1 } }
        asked.note(parameters)
        exchange.asked.send()
        return try await withTaskCancellationHandler {
            try await exchange.answer.wait().get()
        } onCancel: {
            exchange.cancelled.send()
            if !ignoresCancellation { exchange.answer.send(.failure(CancellationError())) }
        }
    }

    /// Waits until the provider was asked for `parameters`.
    func request(for parameters: String) async {
        await exchange(parameters).asked.wait()
    }

    /// Waits until the request for `parameters` was cancelled.
    func cancellation(of parameters: String) async {
        await exchange(parameters).cancelled.wait()
    }

    /// Answers the request for `parameters` with the same word in capitals.
    func answer(_ parameters: String) {
        exchange(parameters).answer.send(.success(parameters.uppercased()))
    }

    /// Fails the request for `parameters`.
    func fail(_ parameters: String, with error: any Error = Failure(number: 1)) {
        exchange(parameters).answer.send(.failure(error))
    }

    /// The exchange for `parameters`, made on first use.
    private func exchange(_ parameters: String) -> Exchange {
        exchanges.withLock { exchanges in
            let exchange = exchanges[parameters] ?? Exchange()
            exchanges[parameters] = exchange
            return exchange
        }
    }
}

/// An error that tests throw.
struct Failure: Error, Equatable {
    /// Which one.
    var number: Int
}
