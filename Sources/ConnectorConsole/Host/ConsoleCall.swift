// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox

/// A call made from the console with its result, truncated to a bounded size.
package struct ConsoleCall: Sendable {
    /// The act that requested the call.
    package let act: ConsoleAct
    /// When the call began.
    package let began: Timestamp
    /// How long the call took; nil while it runs.
    package private(set) var duration: Duration?
    /// The result; nil while it runs.
    package private(set) var outcome: Outcome?
    /// The last lines of progress that the plugin reported.
    package private(set) var progress: [String] = []
    /// How many earlier lines of progress were dropped.
    package private(set) var droppedProgress = 0

    /// The maximum number of lines kept of an answer, and of its progress.
    package static let lineLimit = 400
    /// The maximum number of characters kept of each line.
    package static let lengthLimit = 2000

    /// The result of a call.
    package enum Outcome: Sendable {
        /// The lines of the operation's answer, and how many further lines were omitted.
        case answer([String], omitted: Int)
        /// The event is stored for `connectors`; `outcomes` has one entry for each connector with direct delivery, or whose outbox was full.
        case stored(id: String, connectors: [String], outcomes: [CallOutcome])
        /// The call failed.
        case failure(ConnectorError)
    }

    /// Creates a call that began at a time.
    package init(_ act: ConsoleAct, at time: Timestamp) {
        self.act = act
        began = time
    }

    /// Adds a line of progress.
    package mutating func note(_ value: JSONValue) {
        if progress.count == Self.lineLimit {
            progress.removeFirst()
            droppedProgress += 1
        }
        progress.append((value.string ?? value.serialized()).excerpt(of: Self.lengthLimit))
    }

    /// Completes the call with an answer; null means none.
    package mutating func end(_ answer: JSONValue, after duration: Duration) {
        let text = answer == .null ? "" : answer.string ?? answer.serialized(pretty: true)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let kept = lines.prefix(Self.lineLimit).map { String($0).excerpt(of: Self.lengthLimit) }
        outcome = .answer(text.isEmpty ? [] : kept, omitted: lines.count - kept.count)
        self.duration = duration
    }

    /// Completes the call with the receipt of an event.
    package mutating func end(_ receipt: Receipt, after duration: Duration) {
        let dropped = receipt.dropped.map { CallOutcome($0, error: DeliveryChange.turnedAway(at: $0)) }
        outcome = .stored(id: receipt.id, connectors: receipt.connectors, outcomes: receipt.outcomes + dropped)
        self.duration = duration
    }

    /// Completes the call with an error.
    package mutating func end(_ error: ConnectorError, after duration: Duration) {
        outcome = .failure(error)
        self.duration = duration
    }
}

/// The last call that the console made of each operation.
struct CallHistory: Sendable {
    private var calls: [Route: (number: Int, call: ConsoleCall)] = [:]
    private var next = 0

    /// The maximum number of operations whose last call is kept.
    static let limit = 64

    /// The last call of the operation at a route; nil if there was none, or it has been evicted.
    subscript(route: Route) -> ConsoleCall? { calls[route]?.call }

    /// Adds a call that has begun.
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

    /// Updates a call, unless a later one has replaced it.
    mutating func update(_ number: Int, at route: Route, _ body: (inout ConsoleCall) -> Void) {
        guard var found = calls[route], found.number == number else { return }
        body(&found.call)
        calls[route] = found
    }
}
