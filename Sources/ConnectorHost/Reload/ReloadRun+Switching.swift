// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging

/// Switching, which cannot fail, and draining.
extension ReloadRun {
    /// Directs calls to the successors, publishes the new tree, and lets the last calls of the replaced instances
    /// finish. A gate whose successor is lost by now stays as it was.
    func `switch`(_ work: ReloadWork, _ opened: Opened) async -> Reload {
        let deadline = dependencies.gates.deadline(after: dependencies.limits(.switch))
        let origins = Dictionary(work.moves.map { ($0.value, $0.key) }) { first, _ in first }
        await dependencies.outbox.move(origins, by: deadline)
        await moveStorage(origins, by: deadline)
        var opened = opened
        dropLost(work, &opened)
        let kept = work.keptPaths(opened)
        let unrecorded = dependencies.running.unrecorded
        var ends: [(path: String, ended: OneShot<Void>)] = []
        for leaf in work.leaves {
            switch leaf.step {
            case .succeed:
                guard let succession = opened.successions[leaf.plan.path] else {
                    if !kept.contains(leaf.plan.path) { leaf.gate.adopt(leaf.plan, needsInstance: true) }
                    continue
                }
                if let ended = leaf.gate.switchOver(to: succession) { ends.append((leaf.plan.path, ended)) }
            case .adopt, .reopen: leaf.gate.adopt(leaf.plan, needsInstance: work.needsInstance(leaf))
            // A gate that has gone back meanwhile keeps the plan that it has gone back to.
            case .keep where unrecorded.contains(leaf.plan.path): break
            case .keep: leaf.gate.refresh(leaf.plan)
            case .stopFirst:
                if !kept.contains(leaf.plan.path) { leaf.gate.adopt(leaf.plan, needsInstance: true) }
            case .add: break
            }
        }
        dependencies.gates.redactor.add(from: work.next.resolved.redactor)
        let tree = work.tree(keeping: kept, dependencies)
        dependencies.outbox.expect(tree)
        dependencies.current.publish { _ in tree }
        var resolved = work.next.resolved
        for leaf in work.leaves where kept.contains(leaf.plan.path) {
            let plan = leaf.gate.plan
            resolved.keep(leaf.plan.path, as: plan.connector, plan.leaf)
        }
        let errors = kept.sorted().compactMap { path in opened.failures[path].map { named($0, path) } }
        dependencies.running.replace(by: resolved, work.next.digest, at: dependencies.clock.wallTime(), errors: errors)
        dependencies.trials.follow(tree)
        for leaf in work.leaves
        where leaf.step == .succeed && leaf.plan.trial != nil && !kept.contains(leaf.plan.path) {
            if leaf.gate.isOnTrial { dependencies.trials.begin(leaf.gate) }
        }
        ends += finish(work, kept: kept)
        dependencies.onChange()
        warnOfStaticTLS(work.plan)
        return await drained(ends, work.plan, kept, errors)
    }

    private func named(_ error: ConnectorError, _ path: String) -> ConnectorError {
        var error = dependencies.gates.redactor.redact(error)
        error.connector = error.connector ?? path
        return error
    }

    /// Moves the stored values of gates to the gates that take their places. Past the deadline, it finishes in the
    /// background.
    private func moveStorage(_ paths: [String: String], by deadline: UInt64) async {
        guard !paths.isEmpty else { return }
        let gates = dependencies.gates
        let moved = OneShot<Void>()
        gates.calls.workers.run {
            for (was, path) in paths {
                do throws(ServiceFailure) {
                    try gates.services.moveStorage(of: was, to: path)
                } catch {
                    gates.logger.error(
                        "stored values stay under the old path",
                        metadata: ["connector": "\(path)", "was": "\(was)", "error": "\(error.message)"]
                    )
                }
            }
            moved.send()
        }
        _ = await moved.wait(by: deadline, on: dependencies.clock)
    }

    /// Warns if images have used up half of the static TLS, and this reload loaded one that takes some.
    private func warnOfStaticTLS(_ plan: Plan) {
        let usage = LoadedImages.shared.usage
        guard usage.isStaticTLSHalfUsed, plan.changes.contains(where: { $0.image?.staticTLS ?? 0 > 0 }) else { return }
        dependencies.gates.logger.warning(
            "half of the static TLS is used up; a restart gives it back",
            metadata: [
                "images": "\(usage.staticTLSCount)", "bytes": "\(usage.staticTLS)",
                "left": "\(usage.staticTLSLeft ?? 0)",
            ]
        )
    }

    /// Starts what follows the switch: removed gates close, failed ones open, and the outbox follows.
    private func finish(_ work: ReloadWork, kept: Set<String>) -> [(path: String, ended: OneShot<Void>)] {
        var ends: [(path: String, ended: OneShot<Void>)] = []
        let limit = dependencies.gates.deadline(after: dependencies.limits(.open))
        func begin(_ path: String, _ body: @escaping @Sendable () async -> Void) {
            let ended = OneShot<Void>()
            ends.append((path, ended))
            Task(executorPreference: dependencies.gates.calls.gateThreads) {
                await body()
                ended.send()
            }
        }
        for gate in work.removed { begin(gate.path) { await gate.remove() } }
        for leaf in work.leaves {
            switch leaf.step {
            case .reopen: begin(leaf.plan.path) { await leaf.gate.reopen(by: limit) }
            case .add: dependencies.gates.uses.opened(leaf.plan.path)
            case .keep, .adopt, .succeed, .stopFirst: break
            }
        }
        let outbox = dependencies.outbox
        let changed = work.leaves.filter { leaf in
            leaf.step != .keep && work.needsInstance(leaf) && !kept.contains(leaf.plan.path)
        }
        .map(\.plan.path)
        begin("the outbox") {
            await outbox.follow(by: limit)
            // Events that waited because the earlier vendor accepted none are now tried at the new one.
            for path in changed { await outbox.outbox.wake(path) }
            outbox.outbox.gatesChanged()
        }
        return ends
    }

    /// Awaits the last calls within the limit of `drain`; they may continue after the reload.
    private func drained(
        _ ends: [(path: String, ended: OneShot<Void>)],
        _ plan: Plan,
        _ kept: Set<String>,
        _ errors: [ConnectorError]
    ) async -> Reload {
        let deadline = dependencies.gates.deadline(after: dependencies.limits(.drain))
        var reload = Reload(digest: dependencies.running.digest)
        (reload.plan, reload.errors, reload.rolledBack) = (plan, errors, kept.sorted())
        for (path, ended) in ends {
            guard await ended.wait(by: deadline, on: dependencies.clock) == nil else { continue }
            reload.draining.append(path)
        }
        var metadata: Logger.Metadata = [
            "changed": "\(plan.changes.count)", "kept": "\(plan.kept.count)", "sha256": "\(reload.digest)",
        ]
        if !reload.rolledBack.isEmpty { metadata["rolled back"] = "\(reload.rolledBack.joined(separator: ", "))" }
        dependencies.gates.logger.info(
            "configuration reloaded",
            metadata: metadata
        )
        return reload
    }
}

extension ReloadWork {
    /// The leaves that stay as they were: their successors failed, or their gates stop first and opened again with the
    /// earlier plan.
    fileprivate func keptPaths(_ opened: ReloadRun.Opened) -> Set<String> {
        var paths: Set<String> = []
        for leaf in leaves {
            switch leaf.step {
            case .succeed where opened.successions[leaf.plan.path] == nil && leaf.gate.target == .open:
                paths.insert(leaf.plan.path)
            case .stopFirst where !leaf.gate.plan.opensLike(leaf.plan) && leaf.gate.target == .open:
                paths.insert(leaf.plan.path)
            default: break
            }
        }
        return paths
    }
}
