// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Logging

/// One reload, from reading to draining.
struct ReloadRun {
    let reloader: Reloader
    let dependencies: Reloader.Dependencies

    /// Ends a reload before it changes anything.
    struct Stop: Error {
        var phase: Reload.Phase
        var errors: [ConnectorError]
        var plan: Plan?
        /// Whether the file is the reason: the report then says that the file differs from what runs, and why.
        var isOfFile = true
    }

    init(_ reloader: Reloader, _ dependencies: Reloader.Dependencies) {
        self.reloader = reloader
        self.dependencies = dependencies
    }

    /// Records that a gate has gone back, swaps an image, or reloads.
    func serve(_ request: Reloader.Request) async -> Reload {
        if let rollback = request.rollback { return record(rollback) }
        if let swap = request.swap { return await self.swap(swap, basis: request.basis) }
        return await run(request)
    }

    /// Reads, plans, loads, opens, switches and drains.
    func run(_ request: Reloader.Request) async -> Reload {
        do throws(Stop) {
            let next = try await read(request)
            let plan = try await plan(next, basis: request.basis)
            guard !plan.isEmpty else { return keep(next, plan) }
            try checkSignatures(plan, next)
            defer { settleSignatures(plan) }
            let work = ReloadWork(plan, next, dependencies)
            try await load(work)
            var opened = try await open(work)
            try await prepareOutbox(work, opened)
            try await stopFirst(work, &opened)
            return await `switch`(work, opened)
        } catch {
            return end(error)
        }
    }

    /// Reads and compares, without changing anything.
    func plan(_ request: Reloader.Request) async throws(ConfigurationErrors) -> Plan {
        do throws(Stop) {
            let next: NextConfiguration
            if let swap = request.swap {
                next = try await read(swap)
            } else {
                next = try await read(request)
            }
            await rereadOutbox()
            var plan = try await timed(.plan) { [dependencies] in dependencies.plan(to: next) }
            try checkMoves(plan, next)
            plan.basis = try await timed(.plan) { [dependencies] in dependencies.basis(of: next) }
            return plan
        } catch {
            throw ConfigurationErrors(error.errors)
        }
    }

    /// Counts the events that wait again, so that a plan has those that other processes have stored.
    private func rereadOutbox() async {
        let reread = OneShot<Void>()
        Task(executorPreference: dependencies.gates.calls.gateThreads) { [outbox = dependencies.outbox.outbox] in
            await outbox.reread()
            reread.send()
        }
        // A plan with the last known numbers is better than none.
        _ = await reread.wait(by: dependencies.gates.deadline(after: .seconds(1)), on: dependencies.clock)
    }

    // MARK: Steps

    func read(
        _ request: Reloader.Request,
        _ substitute: PluginSubstitute? = nil
    ) async throws(Stop) -> NextConfiguration {
        let read = try await timed(.read) { [dependencies] () -> Result<NextConfiguration, ConfigurationErrors> in
            do throws(ConfigurationErrors) {
                let running = dependencies.running.resolved
                return .success(try dependencies.next(request.configuration, running, substitute))
            } catch {
                return .failure(error)
            }
        }
        switch read {
        case .success(let next): return next
        case .failure(let errors): throw Stop(phase: .read, errors: errors.errors)
        }
    }

    func plan(_ next: NextConfiguration, basis: Plan.Basis?) async throws(Stop) -> Plan {
        if let basis {
            let now = try await timed(.plan) { [dependencies] in dependencies.basis(of: next) }
            let moved = now.moved(since: basis)
            guard moved.isEmpty else {
                var plan = try await timed(.plan) { [dependencies] in dependencies.plan(to: next) }
                plan.basis = now
                throw Stop(phase: .plan, errors: [Self.hasMoved(moved)], plan: plan, isOfFile: false)
            }
        }
        let plan = try await timed(.plan) { [dependencies] in dependencies.plan(to: next) }
        guard plan.restarts.isEmpty else {
            let names = plan.restarts.map { "\"\($0)\"" }.joined(separator: ", ")
            let error = ConnectorError(
                .unsupported,
                "\(names) cannot change while the host runs",
                fix: "restart the host, or undo this change"
            )
            throw Stop(phase: .plan, errors: [error], plan: plan)
        }
        try checkMoves(plan, next)
        return plan
    }

    /// Refuses a plan with a move that no reload can make.
    private func checkMoves(_ plan: Plan, _ next: NextConfiguration) throws(Stop) {
        if let conflict = next.resolved.configuration.moveConflict(with: dependencies.running.resolved.configuration) {
            throw Stop(phase: .plan, errors: [conflict], plan: plan)
        }
    }

    private static func hasMoved(_ names: [String]) -> ConnectorError {
        ConnectorError(
            .conflict,
            "since the plan was made, there have been changes of \(names.joined(separator: ", "))",
            fix: "look at the plan as it is now, and apply that one"
        )
    }

    /// Loads the images of the gates whose failure is decisive, and checks those of unchanged gates against a changed
    /// lock, so that an image that cannot be loaded ends the reload at once.
    private func load(_ work: ReloadWork) async throws(Stop) {
        let leaves = work.opening.filter { work.isDecisive($0) }
        // A lock is in use only if the images that run match it.
        let hasLockChanged = dependencies.running.resolved.configuration.lock != work.next.resolved.configuration.lock
        let kept = hasLockChanged ? work.leaves.filter { $0.step == .keep && $0.gate.content != nil } : []
        let (loader, clock) = (dependencies.gates.loader, dependencies.clock)
        // An image that an earlier reload is still loading would block this one as well, and one more thread.
        if !leaves.isEmpty, let error = reloader.loadStep?.error(at: clock.now()) {
            throw Stop(phase: .load, errors: [error], plan: work.plan)
        }
        let step = LoadStep(startedAt: clock.now())
        let overdue: @Sendable () -> ConnectorError? = { step.error(at: clock.now()) }
        let failure = try await timed(.load, work.plan, overdue: overdue) { [reloader] () -> ConnectorError? in
            if !leaves.isEmpty { reloader.loadStep = step }
            defer { if !leaves.isEmpty { reloader.loadStep = nil } }
            var loaded: Set<String> = []
            for leaf in leaves {
                do throws(ConnectorError) {
                    let candidate = try leaf.plan.plugin.get()
                    guard loaded.insert(candidate.path).inserted else { continue }
                    step.begin(candidate.path, for: leaf.plan.path)
                    let loader = loader.admitting(leaf.plan.admission)
                    if leaf.plan.isolation.kind != .none, case .file = candidate.image {
                        _ = try loader.seal(candidate)
                    } else if leaf.plan.isolation.kind == .none {
                        _ = try loader.load(candidate)
                    }
                } catch {
                    var error = error
                    error.connector = leaf.plan.path
                    return error
                }
            }
            for leaf in kept {
                guard let candidate = try? leaf.plan.plugin.get(), loaded.insert(candidate.path).inserted,
                    var error = leaf.plan.admission.problem(of: candidate)
                else { continue }
                error.connector = leaf.plan.path
                return error
            }
            return nil
        }
        if let failure { throw Stop(phase: .load, errors: [failure], plan: work.plan) }
    }

    /// Runs a blocking step on a thread that it may hold, and awaits it up to the limit of its phase.
    ///
    /// - Parameter overdue: Returns why the step has not ended by its limit; nil if that is not known.
    func timed<Value: Sendable>(
        _ phase: Reload.Phase,
        _ plan: Plan? = nil,
        overdue: @Sendable () -> ConnectorError? = { nil },
        _ body: @escaping @Sendable () -> Value
    ) async throws(Stop) -> Value {
        guard !reloader.isClosed else { throw Stop(phase: phase, errors: [.hostClosed], plan: plan) }
        let ended = OneShot<Value>()
        dependencies.gates.calls.workers.run { ended.send(body()) }
        let limit = dependencies.limits(phase)
        let end = dependencies.gates.deadline(after: limit)
        guard let value = await ended.wait(by: end, on: dependencies.clock) else {
            let error =
                overdue()
                ?? ConnectorError(
                    .timedOut,
                    "the reload did not \(phase.rawValue) the configuration within \(limit.brief)",
                    isRetryable: true
                )
            throw Stop(phase: phase, errors: [error], plan: plan)
        }
        return value
    }

    // MARK: Ends

    /// Records that a gate has gone back to its earlier instance, so that what runs differs from the file.
    ///
    /// A reload in progress at the time has switched since then. If it gave the gate another instance, or removed it,
    /// there is nothing to record.
    private func record(_ rollback: Rollback) -> Reload {
        let path = rollback.gate.path
        var reload = Reload(digest: dependencies.running.digest)
        guard let node = dependencies.current.tree[path], node.gate === rollback.gate,
            rollback.gate.replacementCount == rollback.replacementCount
        else {
            dependencies.running.rollBack(path, to: nil, because: rollback.error)
            return reload
        }
        var error = dependencies.gates.redactor.redact(rollback.error)
        error.connector = error.connector ?? path
        (reload.rolledBack, reload.errors) = ([path], [error])
        // That reload may have given it the plan that failed, with other settings of the gate.
        rollback.gate.adopt(rollback.plan, needsInstance: false)
        dependencies.running.rollBack(path, to: rollback.plan, because: error)
        let configuration = dependencies.running.resolved.configuration
        dependencies.current.publish { before in
            Tree(
                configuration.connectors,
                after: [before],
                metering: dependencies.metering,
                logger: dependencies.gates.logger,
                onChange: dependencies.onChange,
                plan: { _, gate in gate.plan },
                makeGate: { connector in
                    before[connector.path]?.gate ?? Gate(.missing(connector), dependencies: dependencies.gates)
                }
            )
        }
        dependencies.onChange()
        return reload
    }

    /// Ends a reload whose changes have no effect: of comments, of secrets with the same value, of files with the same
    /// content.
    func keep(_ next: NextConfiguration, _ plan: Plan) -> Reload {
        ReloadWork(plan, next, dependencies).refreshKept()
        dependencies.gates.redactor.add(from: next.resolved.redactor)
        let message: Logger.Message =
            dependencies.running.report.differs ? "the file says what runs again" : "the configuration has not changed"
        dependencies.gates.logger.info(
            message,
            metadata: ["kept": "\(plan.kept.count)", "sha256": "\(next.digest)"]
        )
        dependencies.running.replace(by: next.resolved, next.digest, at: dependencies.clock.wallTime(), errors: [])
        dependencies.onChange()
        var reload = Reload(digest: dependencies.running.digest)
        reload.plan = plan
        return reload
    }

    /// Ends a reload without a change.
    func end(_ stop: Stop) -> Reload {
        let errors = stop.errors.map(dependencies.gates.redactor.redact)
        if stop.isOfFile { dependencies.running.note(errors) }
        // A host that is closing does so on request, so there is nothing to fix.
        if !reloader.isClosed {
            dependencies.gates.logger.warning(
                "reload changed nothing",
                metadata: ["phase": "\(stop.phase.rawValue)", "error": "\(errors.first.map { "\($0)" } ?? "")"]
            )
        }
        dependencies.onChange()
        var reload = Reload(digest: dependencies.running.digest)
        (reload.phase, reload.errors, reload.plan) = (stop.phase, errors, stop.plan)
        return reload
    }
}
