// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import Synchronization

/// Opening, before anything changes.
extension ReloadRun {
    /// What has opened, and what has not.
    struct Opened: Sendable {
        /// The successors that wait for the switch, by path.
        var successions: [String: Gate.ReadyGeneration] = [:]
        /// Why gates did not open, by path.
        var failures: [String: ConnectorError] = [:]
    }

    /// Opens new gates and successors, each after those it waits for.
    ///
    /// - Throws: If a gate whose failure is decisive did not open. Everything that did open is then ended.
    func open(_ work: ReloadWork) async throws(Stop) -> Opened {
        let steps = Dictionary(work.opening.map { ($0.plan.path, $0) }) { first, _ in first }
        guard !steps.isEmpty else { return Opened() }
        let services = dependencies.gates.services
        for (path, was) in work.moves {
            services.shareStorage(of: was, with: path, logger: dependencies.gates.logger)
            if let earlier = work.before[was]?.gate { steps[path]?.gate.opens(beside: earlier) }
        }
        let result = Mutex(Opened())
        let deadline = dependencies.gates.deadline(after: dependencies.limits(.open))
        dependencies.current.pending = work.tree
        // A host that closes from here on closes these gates, too.
        guard !reloader.isClosed else {
            await giveUp(work, Opened())
            throw Stop(phase: .open, errors: [.hostClosed], plan: work.plan)
        }
        let opensGates = reloader.opensGates
        await work.tree.forEachGate(.opening, where: { steps[$0.path]?.gate === $0 }) { gate in
            guard let leaf = steps[gate.path] else { return }
            switch leaf.step {
            case .add where opensGates && !leaf.stopsOrigin && work.opens(leaf):
                await gate.open(by: deadline)
                guard !gate.state.isUsable else { return }
                let error = gate.report.error ?? ConnectorError(.timedOut, "the gate did not open in time")
                result.withLock { $0.failures[gate.path] = error }
            case .succeed:
                switch await gate.openSuccessor(leaf.plan, by: deadline) {
                case .success(let succession): result.withLock { $0.successions[gate.path] = succession }
                case .failure(let error): result.withLock { $0.failures[gate.path] = error }
                }
            case .add, .keep, .adopt, .reopen, .stopFirst: return
            }
        }
        var opened = result.withLock(\.self)
        dropLost(work, &opened)
        let outages = work.outages(opened.failures)
        let decisive = work.opening.compactMap { leaf in
            opened.failures[leaf.plan.path].flatMap { error in
                // A gate that an operator closed meanwhile stays closed, and does not end the reload.
                let isDecisive = work.isDecisive(leaf) || outages.contains(leaf.plan.path)
                return isDecisive && (leaf.step == .add || leaf.gate.target == .open) ? named(error, leaf) : nil
            }
        }
        guard decisive.isEmpty, !reloader.isClosed else {
            await giveUp(work, opened)
            // The gates of a host that closes do not open, whatever they were about to do.
            let errors = reloader.isClosed ? [ConnectorError.hostClosed] : decisive
            throw Stop(phase: .open, errors: errors, plan: work.plan)
        }
        return opened
    }

    /// Gives up the successors whose runners have ended since they opened.
    func dropLost(_ work: ReloadWork, _ opened: inout Opened) {
        for leaf in work.leaves {
            guard let succession = opened.successions[leaf.plan.path],
                let loss = succession.generation.state.withLock(\.loss)
            else { continue }
            leaf.gate.abandon(succession)
            opened.successions[leaf.plan.path] = nil
            opened.failures[leaf.plan.path] = leaf.gate.shown(loss)
        }
    }

    private func named(_ error: ConnectorError, _ leaf: ReloadWork.Leaf) -> ConnectorError {
        var error = error
        error.connector = error.connector ?? leaf.plan.path
        return error
    }

    /// Ends everything that was opened: the gates stay as they were.
    private func giveUp(_ work: ReloadWork, _ opened: Opened) async {
        dependencies.current.pending = nil
        for leaf in work.leaves {
            if let succession = opened.successions[leaf.plan.path] { leaf.gate.abandon(succession) }
        }
        await withTaskGroup { group in
            for leaf in work.leaves where leaf.step == .add { group.addTask { await leaf.gate.remove() } }
        }
        for (path, was) in work.moves { dependencies.gates.services.unshareStorage(of: was, with: path) }
    }

    /// Prepares the outbox for connectors that get a queue.
    ///
    /// - Throws: If its servers refuse. Everything that has opened is then ended.
    func prepareOutbox(_ work: ReloadWork, _ opened: Opened) async throws(Stop) {
        do throws(ConnectorError) {
            try await dependencies.outbox.prepare(work.tree, moving: work.moves)
        } catch {
            await giveUp(work, opened)
            throw Stop(phase: .open, errors: [error], plan: work.plan)
        }
    }

    // MARK: Gates that stop first

    /// What has stopped so that something else could open.
    private enum Stopped {
        /// A gate, for a successor under another plan.
        case replaced(Gate, earlier: GatePlan)
        /// The gate of a connector that moves, for the one at its new path.
        case moved(Gate, to: Gate)
    }

    /// Closes each gate whose instances exclude each other, and opens it with its new plan or, if the connector moves,
    /// the gate at its new path. If that fails, what ran before opens again.
    ///
    /// This comes last, when everything else has opened.
    ///
    /// - Throws: If a gate whose failure is decisive did not open.
    func stopFirst(_ work: ReloadWork, _ opened: inout Opened) async throws(Stop) {
        var stopped: [Stopped] = []
        for leaf in work.leaves {
            let deadline = dependencies.gates.deadline(after: dependencies.limits(.open))
            let last: Stopped
            if let origin = leaf.origin, leaf.stopsOrigin {
                guard reloader.opensGates, work.opens(leaf) else { continue }
                last = .moved(origin, to: leaf.gate)
                await origin.close(isRestart: true)
                // Not if it was closed by hand meanwhile.
                if work.opens(leaf) { await leaf.gate.open(by: deadline) }
            } else if leaf.step == .stopFirst, leaf.gate.target == .open {
                last = .replaced(leaf.gate, earlier: leaf.gate.plan)
                await leaf.gate.restart(leaf.plan, by: deadline)
            } else {
                continue
            }
            // A gate that an operator closed meanwhile stays closed, and does not end the reload.
            let isClosedByHand = leaf.gate.target == .closed && !reloader.isClosed
            guard !leaf.gate.state.isUsable, !isClosedByHand else {
                stopped.append(last)
                continue
            }
            let error =
                reloader.isClosed
                ? ConnectorError.hostClosed
                : leaf.gate.report.error ?? ConnectorError(.timedOut, "the gate did not open in time")
            await undo(last)
            guard work.isDecisive(leaf) else {
                opened.failures[leaf.plan.path] = named(error, leaf)
                continue
            }
            for earlier in stopped { await undo(earlier) }
            await giveUp(work, opened)
            throw Stop(phase: .open, errors: [named(error, leaf)], plan: work.plan)
        }
    }

    /// Opens again what ran before.
    private func undo(_ stopped: Stopped) async {
        let deadline = dependencies.gates.deadline(after: dependencies.limits(.open))
        switch stopped {
        case .replaced(let gate, earlier: let earlier): await gate.restart(earlier, by: deadline)
        case .moved(let origin, to: let gate):
            await gate.remove()
            await origin.open(by: deadline, isAgain: true)
        }
    }
}

extension ReloadWork {
    /// The failed leaves without which a required composite would stop working, or a new one would not work, although
    /// none of them is decisive by itself.
    fileprivate func outages(_ failures: [String: ConnectorError]) -> Set<String> {
        guard next.resolved.configuration.reloadMode == .atomic, !failures.isEmpty else { return [] }
        // These open later, and end the reload if they do not.
        let waiting = Set(leaves.filter(\.stopsOrigin).map { ObjectIdentifier($0.gate) })
        let composites = tree.nodes.filter { node in
            node.policy != nil && node.isRequired && !node.isWorking(with: waiting)
                && before[node.path]?.isWorking() ?? true
        }
        return Set(composites.flatMap(\.leaves).map(\.path)).intersection(failures.keys)
    }
}

extension Node {
    /// Whether the gate is open or, for a composite, enough of its children are.
    ///
    /// - Parameter others: The gates that count as open, too.
    fileprivate func isWorking(with others: Set<ObjectIdentifier> = []) -> Bool {
        guard let policy else {
            return gate.map { $0.state.isUsable || others.contains(ObjectIdentifier($0)) } ?? false
        }
        return policy.isSatisfied(by: children.map { ($0.isWorking(with: others), requires($0)) })
    }
}
