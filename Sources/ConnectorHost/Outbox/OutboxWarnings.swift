// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Logging
internal import Synchronization

/// The warnings of a host about the place where its events wait, one sentence each. Each is logged when it is noted, and is in the
/// reports for as long as it holds.
final class OutboxWarnings: Sendable {
    private struct State {
        /// The files that were damaged or replaced.
        var damages: [String] = []
        /// How many waiting events of each connector are gone from servers.
        var losses: [String: Int] = [:]
        /// The events that wait where this host does not look.
        var stranded: [String] = []
        /// Why servers keep events that are settled; nil if they do not.
        var trimming: String?
    }

    private let state = Mutex(State())
    private let logger: Logger
    private let onChange: @Sendable () -> Void

    /// Starts without warnings.
    ///
    /// - Parameter onChange: Called when the warnings have changed.
    init(_ logger: Logger, onChange: @escaping @Sendable () -> Void) {
        self.logger = logger
        self.onChange = onChange
    }

    /// The sentences.
    var texts: [String] {
        state.withLock { state in
            let losses = state.losses.sorted { $0.key < $1.key }.map { path, count in
                "\(count) \(count == 1 ? "event" : "events") that waited for \(path) \(count == 1 ? "is" : "are") gone from the NATS "
                    + "servers: deleted there, alone or with the consumer or the stream"
            }
            return state.damages + losses + state.stranded + [state.trimming].compactMap(\.self)
        }
    }

    /// Notes that a file was damaged or replaced.
    func note(_ damage: OutboxLocation.Damage) {
        state.withLock { $0.damages.append("\(damage)") }
        logger.error(
            "the outbox file was damaged or replaced",
            metadata: ["old file": "\(damage.outcome)", "reason": "\(damage.reason)"]
        )
        onChange()
    }

    /// Notes that more waiting events of a connector are gone from the servers.
    func noteLoss(of count: Int, at path: String) {
        state.withLock { $0.losses[path] = ($0.losses[path] ?? 0).saturatingAdding(count) }
        logger.error(
            "events that waited are gone from the NATS servers",
            metadata: ["connector": "\(path)", "events": "\(count)"]
        )
        onChange()
    }

    /// Notes why servers keep events that are settled; nil if they delete them again.
    func noteTrim(_ failure: ConnectorError?) {
        state.withLock { state in
            state.trimming = failure.map { "delivered events stay in the outbox, which grows: \($0.message)" }
        }
        if let failure {
            logger.warning("delivered events stay in the outbox, which grows", metadata: ["error": "\(failure)"])
        } else {
            logger.info("delivered events are deleted from the outbox again")
        }
        onChange()
    }

    /// Replaces the stranded events by those that were found last.
    func replace(_ stranded: [StrandedEvents]) {
        let isOther = state.withLock { state in
            let texts = stranded.map(\.description)
            defer { state.stranded = texts }
            return state.stranded != texts
        }
        guard isOther else { return }
        for directory in stranded.map(\.directory) {
            logger.warning("events wait where this host does not look", metadata: ["directory": "\(directory)"])
        }
        onChange()
    }
}
