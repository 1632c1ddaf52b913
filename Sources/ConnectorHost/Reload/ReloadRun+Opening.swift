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
        var successions: [String: Gate.Seated] = [:]
        /// Why gates did not open, by path.
        var failures: [String: ConnectorError] = [:]
    }

    /// Opens new gates and successors, each after those it waits for.
    ///
    /// - Throws: If a gate whose failure is decisive did not open. Everything that did open is then ended.
    func open(_ work: ReloadWork) async throws(Stop) -> Opened {
        let steps = Dictionary(work.opening.map { ($0.plan.path, $0) }) { first, _ in first }
        guard !steps.isEmpty else { return Opened() }
        let services = environment.gates.services
        for (path, was) in work.moves { services.shareStorage(of: was, with: path, logger: environment.gates.logger) }
        let result = Mutex(Opened())
        let deadline = environment.gates.deadline(after: environment.limits(.open))
        environment.current.pending = work.tree
        // A host that closes from here on closes these gates, too.
        guard !reloader.isClosed else {
            await giveUp(work, Opened())
            throw Stop(phase: .open, errors: [Reloader.closed], plan: work.plan)
        }
        let opensGates = reloader.opensGates
        await work.tree.forEachGate(.opening, where: { steps[$0.path]?.gate === $0 }) { gate in
            guard let leaf = steps[gate.path] else { return }
            switch leaf.step {
            case .add where opensGates && work.opens(leaf):
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
            let errors = decisive.isEmpty ? [Reloader.closed] : decisive
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
        environment.current.pending = nil
        for leaf in work.leaves {
            if let succession = opened.successions[leaf.plan.path] { leaf.gate.abandon(succession) }
        }
        await withTaskGroup { group in
            for leaf in work.leaves where leaf.step == .add { group.addTask { await leaf.gate.remove() } }
        }
        for (path, was) in work.moves { environment.gates.services.unshareStorage(of: was, with: path) }
    }

    /// Prepares the outbox for connectors that get a queue.
    ///
    /// - Throws: If its servers refuse. Everything that has opened is then ended.
    func prepareOutbox(_ work: ReloadWork, _ opened: Opened) async throws(Stop) {
        do throws(ConnectorError) {
            try await environment.outbox.prepare(work.tree)
        } catch {
            await giveUp(work, opened)
            throw Stop(phase: .open, errors: [error], plan: work.plan)
        }
    }

    // MARK: Gates that stop first

    /// Closes each gate whose instances exclude each other, and opens it with its new plan, or with the earlier one if
    /// that fails.
    ///
    /// This comes last, when everything else has opened.
    ///
    /// - Throws: If a gate whose failure is decisive did not open.
    func stopFirst(_ work: ReloadWork, _ opened: inout Opened) async throws(Stop) {
        var replaced: [(gate: Gate, plan: GatePlan)] = []
        for leaf in work.leaves where leaf.step == .stopFirst && leaf.gate.target == .open {
            let earlier = leaf.gate.plan
            let deadline = environment.gates.deadline(after: environment.limits(.open))
            await leaf.gate.restart(leaf.plan, by: deadline)
            // A gate that an operator closed meanwhile stays closed, and does not end the reload.
            let isClosedByHand = leaf.gate.target == .closed && !reloader.isClosed
            guard !leaf.gate.state.isUsable, !isClosedByHand else {
                replaced.append((leaf.gate, earlier))
                continue
            }
            let error =
                reloader.isClosed
                ? Reloader.closed
                : leaf.gate.report.error ?? ConnectorError(.timedOut, "the gate did not open in time")
            await leaf.gate.restart(earlier, by: environment.gates.deadline(after: environment.limits(.open)))
            guard work.isDecisive(leaf) else {
                opened.failures[leaf.plan.path] = named(error, leaf)
                continue
            }
            for (gate, plan) in replaced {
                await gate.restart(plan, by: environment.gates.deadline(after: environment.limits(.open)))
            }
            await giveUp(work, opened)
            throw Stop(phase: .open, errors: [named(error, leaf)], plan: work.plan)
        }
    }
}

extension ReloadWork {
    /// The failed leaves without which a required composite would stop working, or a new one would not work, although
    /// none of them is decisive by itself.
    fileprivate func outages(_ failures: [String: ConnectorError]) -> Set<String> {
        guard next.resolved.configuration.reloadMode == .atomic, !failures.isEmpty else { return [] }
        let composites = tree.nodes.filter { node in
            node.policy != nil && node.isRequired && !node.isWorking && before[node.path]?.isWorking ?? true
        }
        return Set(composites.flatMap(\.leaves).map(\.path)).intersection(failures.keys)
    }
}

extension Node {
    /// Whether the gate is open or, for a composite, enough of its children are.
    fileprivate var isWorking: Bool {
        guard let policy else { return gate?.state.isUsable ?? false }
        return policy.isSatisfied(by: children.map { ($0.isWorking, requires($0)) })
    }
}
