// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading

/// An image that is to take the place of the one that a connector's plugin was loaded from.
struct ImageSwap: Sendable {
    /// The connector's path.
    var path: String
    /// The image.
    var file: String
}

/// Swapping an image: check it in the place that it will have, put it there, reload, and put the old one back if nothing uses it.
extension ReloadRun {
    /// Reads the configuration as it would be with the image where it is now.
    func read(_ swap: ImageSwap) async throws(Stop) -> NextConfiguration {
        let replaced = try image(of: swap)
        let found = try await attempt(.read) { () throws(ConnectorError) in
            try ImageReplacement.candidate(swap.file, replacing: replaced)
        }
        return try await read(replaced.path.absolutePath.realPath, found)
    }

    /// Checks an image, puts it in place and reloads.
    ///
    /// - Parameter basis: What a plan was made from that the caller has seen; nil for any.
    func swap(_ swap: ImageSwap, basis: Plan.Basis?) async -> Reload {
        let replacement: ImageReplacement
        let seen: Plan
        do throws(Stop) {
            let replaced = try image(of: swap)
            replacement = try await attempt(.read) { () throws(ConnectorError) in
                try ImageReplacement(of: replaced, with: swap.file)
            }
            do throws(Stop) {
                seen = try await check(replacement, basis)
                try await attempt(.load) { () throws(ConnectorError) in try replacement.put() }
            } catch {
                replacement.finish()
                throw error
            }
        } catch {
            // What runs is what the file says.
            var stop = error
            stop.isOfFile = false
            return end(stop)
        }
        let reload = await run(Reloader.Request())
        let users = seen.changes.filter { $0.image != nil || $0.fields.contains { $0.name == "image" } }.map(\.path)
        guard reload.isActive, !users.allSatisfy(reload.rolledBack.contains) || users.isEmpty else {
            replacement.undo()
            environment.running.note([])
            environment.onChange()
            return reload
        }
        replacement.finish()
        return reload
    }

    /// Checks everything of a staged image that can be checked without running its code.
    private func check(_ replacement: ImageReplacement, _ basis: Plan.Basis?) async throws(Stop) -> Plan {
        let staged = try await attempt(.read, replacement) { () throws(ConnectorError) in try replacement.staged() }
        let next = try await read(replacement.target, staged)
        let plan = try await plan(next, basis: basis)
        try checkSignatures(plan, next)
        settleSignatures(plan)
        guard let user = next.plans.values.first(where: { (try? $0.plugin.get()) === staged }) else { return plan }
        let loader = environment.gates.loader.admitting(user.admission)
        try await attempt(.load, replacement) { () throws(ConnectorError) in try loader.check(staged) }
        return plan
    }

    /// Reads the configuration with a candidate in the place of an image, which every connector of that image must then get.
    private func read(_ target: String, _ candidate: PluginCandidate) async throws(Stop) -> NextConfiguration {
        let substitute = PluginSubstitute(target: target, candidate: candidate)
        let next = try await read(Reloader.Request(), substitute)
        let users = environment.current.tree.gates.filter { gate in
            (try? gate.plan.plugin.get()).map(substitute.replaces) ?? false
        }
        for user in users {
            guard case .failure(var error)? = next.plans[user.path]?.plugin else { continue }
            error.connector = user.path
            throw Stop(phase: .read, errors: [error])
        }
        return next
    }

    /// The image that a connector's plugin was loaded from.
    private func image(of swap: ImageSwap) throws(Stop) -> PluginCandidate {
        do throws(ConnectorError) {
            guard let gate = try environment.current.node(swap.path).node.gate else {
                throw ConnectorError(
                    .unsupported,
                    "a composite has no plugin of its own",
                    fix: "name one of the connectors below it",
                    connector: swap.path
                )
            }
            return try gate.plan.plugin.get()
        } catch {
            throw Stop(phase: .read, errors: [error])
        }
    }

    /// Runs a blocking step that may fail.
    private func attempt<Value: Sendable>(
        _ phase: Reload.Phase,
        _ replacement: ImageReplacement? = nil,
        _ body: @escaping @Sendable () throws(ConnectorError) -> Value
    ) async throws(Stop) -> Value {
        let result = try await timed(phase) { () -> Result<Value, ConnectorError> in
            do throws(ConnectorError) {
                return .success(try body())
            } catch {
                return .failure(replacement?.shown(error) ?? error)
            }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw Stop(phase: phase, errors: [error])
        }
    }
}
