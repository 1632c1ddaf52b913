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
        var stranded: [StrandedEvents] = []
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

    /// The sentences about the events of single connectors, by path, and all others.
    ///
    /// - Parameter isTarget: Whether a connector receives events. Sentences about the events of others stand beside those about the whole
    ///   outbox.
    func texts(where isTarget: (String) -> Bool) -> (common: [String], own: [String: [String]]) {
        let state = state.withLock { $0 }
        var (common, own) = (state.damages, [String: [String]]())
        for (path, count) in state.losses.sorted(by: { $0.key < $1.key }) {
            let text =
                "\(count) \(count == 1 ? "event" : "events") that waited for \(path) \(count == 1 ? "is" : "are") gone from the NATS "
                + "servers: deleted there, alone or with the consumer or the stream"
            if isTarget(path) { own[path, default: []].append(text) } else { common.append(text) }
        }
        for events in state.stranded {
            let (targets, others) = (events.counts.keys.filter(isTarget), events.counts.keys.filter { !isTarget($0) })
            for path in targets { own[path, default: []].append(events.sentence(about: [path])) }
            if !others.isEmpty { common.append(events.sentence(about: others)) }
        }
        return (common + [state.trimming].compactMap(\.self), own)
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
            defer { state.stranded = stranded }
            return state.stranded != stranded
        }
        guard isOther else { return }
        for directory in stranded.map(\.directory) {
            logger.warning("events wait where this host does not look", metadata: ["directory": "\(directory)"])
        }
        onChange()
    }
}
