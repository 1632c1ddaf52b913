// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading

/// A request to replace the image that a connector's plugin was loaded from.
struct ImageSwap: Sendable {
    /// The connector's path.
    var path: String
    /// The path of the new image.
    var file: String
}

/// Swapping an image: check it as if it were in place, put it there, reload, and restore the old one if nothing uses
/// the new one.
extension ReloadRun {
    /// Reads the configuration as it would be with the new image, which stays where it is, and checks the image as if it were in place.
    func read(_ swap: ImageSwap) async throws(Stop) -> NextConfiguration {
        let replaced = try image(of: swap)
        let found = try await attempt(.read) { () throws(ConnectorError) in
            try ImageReplacement.candidate(swap.file, replacing: replaced)
        }
        let target = replaced.path.absolutePath.realPath
        let next = try await read(target, found)
        if let loader = loader(of: found, in: next) {
            try await attempt(.read) { () throws(ConnectorError) in try loader.check(found, at: target) }
        }
        return next
    }

    /// Checks an image, puts it in place and reloads.
    ///
    /// - Parameter basis: What the plan that the caller has seen was made from; nil for any state.
    func swap(_ swap: ImageSwap, basis: Plan.Basis?) async -> Reload {
        let replacement: ImageReplacement
        let checked: (plan: Plan, configuration: Configuration)
        do throws(Stop) {
            let replaced = try image(of: swap)
            replacement = try await attempt(.read) { () throws(ConnectorError) in
                try ImageReplacement(of: replaced, with: swap.file)
            }
            do throws(Stop) {
                checked = try await check(replacement, basis)
                try await attempt(.load) { () throws(ConnectorError) in try replacement.put() }
            } catch {
                replacement.finish()
                throw error
            }
        } catch {
            // What runs still matches the file.
            var stop = error
            stop.isOfFile = false
            return end(stop)
        }
        let errors = dependencies.running.report.errors
        // The files may have been edited meanwhile; what was checked is applied, and nothing else.
        let reload = await run(Reloader.Request(configuration: checked.configuration))
        let changes = checked.plan.changes
        let users = changes.filter { $0.image != nil || $0.fields.contains { $0.name == "image" } }.map(\.path)
        guard reload.isActive, !users.allSatisfy(reload.rolledBack.contains) || users.isEmpty else {
            replacement.undo()
            // With the old image in place again, the file is as much in use as before, except for what else was rolled back.
            let others = reload.errors.filter { !users.contains($0.connector ?? "") }
            dependencies.running.note(reload.isActive ? others : errors)
            dependencies.onChange()
            // Whatever else the reload took up, the image is not in use.
            var refused = reload
            refused.phase = reload.phase ?? .open
            return refused
        }
        replacement.finish()
        return reload
    }

    /// Checks everything about a staged image that can be checked without running its code.
    ///
    /// - Returns: The plan, and the configuration that it is of.
    private func check(
        _ replacement: ImageReplacement,
        _ basis: Plan.Basis?
    ) async throws(Stop) -> (plan: Plan, configuration: Configuration) {
        let staged = try await attempt(.read, replacement) { () throws(ConnectorError) in try replacement.staged() }
        let next = try await read(replacement.target, staged)
        let plan = try await plan(next, basis: basis)
        try checkSignatures(plan, next)
        settleSignatures(plan)
        if let loader = loader(of: staged, in: next) {
            try await attempt(.load, replacement) { () throws(ConnectorError) in try loader.check(staged) }
        }
        return (plan, next.resolved.configuration)
    }

    /// What loads an image for a connector that uses it; nil if none does.
    private func loader(of candidate: PluginCandidate, in next: NextConfiguration) -> PluginLoader? {
        next.plans.values.first { (try? $0.plugin.get()) === candidate }.map { user in
            dependencies.gates.loader.admitting(user.admission)
        }
    }

    /// Reads the configuration with a candidate in the place of an image; every connector of that image must then be
    /// able to use it.
    private func read(_ target: String, _ candidate: PluginCandidate) async throws(Stop) -> NextConfiguration {
        let substitute = PluginSubstitute(target: target, candidate: candidate)
        let next = try await read(Reloader.Request(), substitute)
        let users = dependencies.current.tree.gates.filter { gate in
            (try? gate.plan.plugin.get()).map(substitute.replaces) ?? false
        }
        for user in users {
            guard case .failure(var error)? = next.plans[user.path]?.plugin else { continue }
            error.connector = user.path
            throw Stop(phase: .read, errors: [error])
        }
        return next
    }

    /// The image that a connector's plugin was loaded from, if a file can be swapped in.
    private func image(of swap: ImageSwap) throws(Stop) -> PluginCandidate {
        do throws(ConnectorError) {
            try swap.file.checkPath("the new image")
            guard let gate = try dependencies.current.node(swap.path).node.gate else {
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
