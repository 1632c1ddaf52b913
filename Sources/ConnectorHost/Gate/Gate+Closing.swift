// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform
internal import Synchronization

extension Gate {
    /// Ends the instance and stops healing, and awaits the ends of earlier instances. A second caller awaits the closing
    /// in progress.
    ///
    /// An attempt in progress is abandoned. ``Generation/end()`` says how long closing can take.
    ///
    /// - Parameter isRestart: Whether the gate is to open again afterwards: see ``restart(by:)``.
    func close(isRestart: Bool = false) async {
        let (action, generations, pause, event) = storage.withLock { storage in
            let action = storage.machine.close(isRestart: isRestart)
            // A restart keeps the successor of a reload, which will replace whatever the gate opens meanwhile.
            let successor = isRestart ? storage.successor.take() : nil
            defer { if isRestart { storage.successor = successor } }
            storage.successor?.giveUp(.gateClosed(path))
            guard action == .begin else { return (action, [Generation](), OneShot<Void>?.none, storage.closed) }
            rundown.shut()
            stopTimer(&storage)
            let event = OneShot<Void>()
            storage.closed = event
            storage.history.endOutage()
            // An instance under an earlier plan may have another image than the plan.
            if storage.isOutdated { storage.history.forgetContent() }
            if let current = storage.current { storage.history.keep(current) }
            for generation in [storage.opening, storage.standby.opening] { generation?.giveUp(.gateClosed(path)) }
            let generations = storage.removeGenerations() + storage.standby.removeGenerations(dependencies.clock)
            return (action, generations + storage.draining, storage.pause.take(), event)
        }
        switch action {
        case .nothing: return
        case .join: return await event?.wait() ?? ()
        case .begin: break
        }
        dependencies.onChange()
        pause?.send()
        for generation in generations { await generation.end() }
        storage.withLock { storage in
            storage.machine.closed()
            storage.history.closed()
            storage.closed = nil
        }
        settle()
        event?.send()
        dependencies.onChange()
    }

    /// Keeps the gate closed permanently, because its host is closing.
    func retire() {
        storage.withLock { $0.machine.retire() }
    }

    /// Closes the gate permanently, because a reload has removed it from the tree.
    func remove() async {
        storage.withLock { $0.isRemoved = true }
        retire()
        await close()
    }

    /// Whether a reload has removed the gate from the tree.
    var isRemoved: Bool { storage.withLock { $0.isRemoved } }

    /// Whether the gate has closed with its host.
    var hostHasClosed: Bool { storage.withLock { $0.hostHasClosed } }
}

extension ConnectorError {
    /// The error of an opening or a call that ended because the gate closed.
    static func gateClosed(_ path: String) -> ConnectorError {
        ConnectorError(.notOpen, "the gate closed", connector: path, isRetryable: true)
    }
}

extension Gate.Storage {
    /// Removes and returns the generations of a gate that ends, except the standby's: see ``Gate/Standby``.
    mutating func removeGenerations() -> [Generation] {
        [current.take(), opening.take(), successor.take(), predecessor.take()?.generation].compactMap(\.self)
    }
}
