// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Logging

/// One reload, from reading to draining.
struct ReloadRun {
    let reloader: Reloader
    let environment: Reloader.Environment

    /// Ends a reload before it changes anything.
    struct Stop: Error {
        var phase: Reload.Phase
        var errors: [ConnectorError]
        var plan: Plan?
    }

    init(_ reloader: Reloader, _ environment: Reloader.Environment) {
        self.reloader = reloader
        self.environment = environment
    }

    /// Reads, plans, loads, opens, switches and drains.
    func run(_ request: Reloader.Request) async -> Reload {
        do throws(Stop) {
            let next = try await read(request)
            let plan = try await plan(next, basis: request.basis)
            guard !plan.isEmpty else { return keep(next, plan) }
            let work = ReloadWork(plan, next, environment)
            try await load(work)
            var opened = try await open(work)
            try await stopFirst(work, &opened)
            return await `switch`(work, opened)
        } catch {
            return end(error)
        }
    }

    /// Reads and compares, without changing anything.
    func plan(_ request: Reloader.Request) async throws(ConfigurationErrors) -> Plan {
        do throws(Stop) {
            let next = try await read(request)
            var plan = try await plan(next, basis: nil)
            plan.basis = try await timed(.plan) { [environment] in environment.basis(of: next) }
            return plan
        } catch {
            throw ConfigurationErrors(error.errors)
        }
    }

    // MARK: Steps

    private func read(_ request: Reloader.Request) async throws(Stop) -> NextConfiguration {
        let read = try await timed(.read) { [environment] () -> Result<NextConfiguration, ConfigurationErrors> in
            do throws(ConfigurationErrors) {
                guard let configuration = request.configuration else { return .success(try environment.source()) }
                return .success(try environment.resolve(configuration))
            } catch {
                return .failure(error)
            }
        }
        switch read {
        case .success(let next): return next
        case .failure(let errors): throw Stop(phase: .read, errors: errors.errors)
        }
    }

    private func plan(_ next: NextConfiguration, basis: Plan.Basis?) async throws(Stop) -> Plan {
        if let basis {
            let now = try await timed(.plan) { [environment] in environment.basis(of: next) }
            let moved = now.moved(since: basis)
            guard moved.isEmpty else { throw Stop(phase: .plan, errors: [Self.hasMoved(moved)]) }
        }
        let plan = try await timed(.plan) { [environment] in environment.plan(to: next) }
        guard plan.restarts.isEmpty else {
            let names = plan.restarts.map { "\"\($0)\"" }.joined(separator: ", ")
            let error = ConnectorError(
                .unsupported,
                "\(names) cannot change while the host runs",
                fix: "restart the host, or undo this change"
            )
            throw Stop(phase: .plan, errors: [error], plan: plan)
        }
        return plan
    }

    private static func hasMoved(_ names: [String]) -> ConnectorError {
        ConnectorError(
            .conflict,
            "since the plan was made, there have been changes of \(names.joined(separator: ", "))",
            fix: "make a new plan"
        )
    }

    /// Loads the images of all gates that will open, so that one that cannot be loaded ends the reload at once.
    private func load(_ work: ReloadWork) async throws(Stop) {
        let leaves = work.opening.filter { work.isDecisive($0) }
        let loader = environment.gates.loader
        let failure = try await timed(.load, work.plan) { () -> ConnectorError? in
            var loaded: Set<String> = []
            for leaf in leaves {
                do throws(ConnectorError) {
                    let candidate = try leaf.plan.plugin.get()
                    guard loaded.insert(candidate.path).inserted else { continue }
                    let loader = loader.admitting(leaf.plan.admission)
                    if leaf.plan.isolation.kind == .process, case .file = candidate.image {
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
            return nil
        }
        if let failure { throw Stop(phase: .load, errors: [failure], plan: work.plan) }
    }

    /// Runs a blocking step on a thread that it may hold, within its limit.
    private func timed<Value: Sendable>(
        _ phase: Reload.Phase,
        _ plan: Plan? = nil,
        _ body: @escaping @Sendable () -> Value
    ) async throws(Stop) -> Value {
        guard !reloader.isClosed else { throw Stop(phase: phase, errors: [Reloader.closed], plan: plan) }
        let ended = OneShot<Value>()
        environment.gates.calls.workers.run { ended.send(body()) }
        let limit = environment.limits(phase)
        let end = environment.gates.deadline(after: limit)
        guard let value = await ended.wait(by: end, on: environment.clock) else {
            let error = ConnectorError(
                .timedOut,
                "the reload did not \(phase.rawValue) the configuration within \(limit.brief)",
                isRetryable: true
            )
            throw Stop(phase: phase, errors: [error], plan: plan)
        }
        return value
    }

    // MARK: Ends

    /// Ends a reload that changes nothing but what is not seen: comments, secrets that are the same, files that are copies.
    private func keep(_ next: NextConfiguration, _ plan: Plan) -> Reload {
        ReloadWork(plan, next, environment).refreshKept()
        environment.gates.redactor.add(from: next.resolved.redactor)
        environment.running.replace(by: next.resolved, at: environment.clock.wallTime(), errors: [])
        environment.onChange()
        var reload = Reload(digest: environment.running.digest)
        reload.plan = plan
        return reload
    }

    /// Ends a reload without a change; the report says that the file differs, and why.
    private func end(_ stop: Stop) -> Reload {
        let errors = stop.errors.map(environment.gates.redactor.redact)
        environment.running.note(errors)
        environment.gates.logger.warning(
            "reload changed nothing",
            metadata: ["phase": "\(stop.phase.rawValue)", "error": "\(errors.first.map { "\($0)" } ?? "")"]
        )
        environment.onChange()
        var reload = Reload(digest: environment.running.digest)
        (reload.phase, reload.errors, reload.plan) = (stop.phase, errors, stop.plan)
        return reload
    }
}
