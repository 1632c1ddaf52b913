// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorOutbox

/// A call that somebody made from the console, and what became of it: bounded, whatever the plugin answers.
package struct ConsoleCall: Sendable {
    /// What was asked for.
    package let act: ConsoleAct
    /// When.
    package let began: Timestamp
    /// How long it took; nil while it goes on.
    package private(set) var duration: Duration?
    /// What became of it; nil while it goes on.
    package private(set) var outcome: Outcome?
    /// What the plugin said of its progress, the last lines alone.
    package private(set) var progress: [String] = []
    /// How many lines came before those.
    package private(set) var forgottenProgress = 0

    /// The most lines that are kept of an answer, and of the progress.
    package static let lineLimit = 400
    /// The most characters that are kept of a line.
    package static let lengthLimit = 2000

    /// What became of a call.
    package enum Outcome: Sendable {
        /// The operation answered, in lines; some more were left out.
        case answer([String], omitted: Int)
        /// The event is safe; the connectors get it from the outbox, or had it at once.
        case stored(id: String, connectors: [String], outcomes: [CallOutcome])
        /// It failed.
        case failure(ConnectorError)
    }

    /// Begins.
    package init(_ act: ConsoleAct, at time: Timestamp) {
        self.act = act
        began = time
    }

    /// Takes note of progress.
    package mutating func note(_ value: JSONValue) {
        if progress.count == Self.lineLimit {
            progress.removeFirst()
            forgottenProgress += 1
        }
        progress.append((value.string ?? value.serialized()).excerpt(of: Self.lengthLimit))
    }

    /// Ends with an answer; null is none.
    package mutating func end(_ answer: JSONValue, after duration: Duration) {
        let text = answer == .null ? "" : answer.string ?? answer.serialized(pretty: true)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = lines.prefix(Self.lineLimit).map { String($0).excerpt(of: Self.lengthLimit) }
        outcome = .answer(text.isEmpty ? [] : kept, omitted: lines.count - kept.count)
        self.duration = duration
    }

    /// Ends with an event that is safe.
    package mutating func end(_ receipt: Receipt, after duration: Duration) {
        outcome = .stored(id: receipt.id, connectors: receipt.connectors, outcomes: receipt.outcomes)
        self.duration = duration
    }

    /// Ends with an error.
    package mutating func end(_ error: ConnectorError, after duration: Duration) {
        outcome = .failure(error)
        self.duration = duration
    }
}

/// The last call of each operation that was called from the console.
struct CallBook: Sendable {
    private var calls: [Route: (number: Int, call: ConsoleCall)] = [:]
    private var next = 0

    /// The most operations whose calls are kept.
    static let limit = 64

    /// The last call of the operation at a route; nil if it was not called, or others were since.
    subscript(route: Route) -> ConsoleCall? { calls[route]?.call }

    /// Takes note of a call that begins.
    ///
    /// - Returns: The number of the call, for ``update(_:at:_:)``.
    mutating func begin(_ call: ConsoleCall, at route: Route) -> Int {
        next += 1
        calls[route] = (next, call)
        if calls.count > Self.limit, let oldest = calls.min(by: { $0.value.number < $1.value.number }) {
            calls[oldest.key] = nil
        }
        return next
    }

    /// Changes a call, unless another one took its place.
    mutating func update(_ number: Int, at route: Route, _ body: (inout ConsoleCall) -> Void) {
        guard var found = calls[route], found.number == number else { return }
        body(&found.call)
        calls[route] = found
    }
}
