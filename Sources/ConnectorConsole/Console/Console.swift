// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// A console without a platform: it takes snapshots of its model, makes scenes from them, and performs acts.
///
/// Every platform is a loop around a console. The loop shows the registry's scenes of each snapshot, passes the operator's input
/// to a ``Coordinator``, and passes the acts that the coordinator returns to ``perform(_:)``.
///
/// ```swift
/// let console = Console(SiteModel(sites), registry)
/// let scene = console.registry.scene(for: route, of: await console.snapshot(for: [route]))
/// ```
public final class Console: Sendable {
    private let base: ConsoleRegistry
    /// Yields whenever a new snapshot may differ from the last. For a single consumer; needs ``run()``.
    public let changes: AsyncStream<Void>
    private let model: any ConsoleModel
    private let change: AsyncStream<Void>.Continuation
    private let records = Mutex(ActRecords())

    /// Creates a console without a host, which shows the scenes of a registry.
    public convenience init(registry: ConsoleRegistry) { self.init(EmptyConsoleModel(), registry) }

    /// Creates the console of a model.
    public init(_ model: any ConsoleModel, _ registry: ConsoleRegistry) {
        base = registry
        self.model = model
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The scenes and components, including the scenes that the model has now.
    public var registry: ConsoleRegistry {
        guard base.showsModelScenes else { return base }
        let roots = Set(base.scenes.map(\.root))
        var registry = base
        for scene in model.scenes where !roots.contains(scene.root) { registry.register(scene) }
        return registry
    }

    /// Runs the model and passes on its changes until the task is cancelled.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { [model] in await model.run() }
            for await _ in model.changes { change.yield() }
            group.cancelAll()
        }
        change.finish()
    }

    /// The current state, for the scenes at some routes and the scenes in their slots.
    ///
    /// - Parameter routes: The routes whose scenes are shown. Data that only other scenes show are not queried.
    public func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
        await snapshot(for: routes, permittingActs: true)
    }

    /// The current state, for operators who may or may not act.
    ///
    /// - Parameter permitsActs: Whether they may act. For those who may not, no plan is made, and nothing shown that is withheld from them.
    package func snapshot(for routes: [Route], permittingActs permitsActs: Bool) async -> ConsoleSnapshot {
        var routes = routes
        var snapshot = await take(routes, permitsActs)
        let registry = registry
        // A scene in a slot may have slots of its own, which are known only once the scene is made.
        for _ in 0..<SlotBudget.depth {
            var missing: [Route] = []
            for route in routes where registry.descriptor(of: route)?.hasSlots ?? false {
                missing += registry.scene(for: route, of: snapshot).mounted
            }
            let new = Set(missing).subtracting(routes)
            guard !new.isEmpty else { break }
            routes += new
            snapshot = await take(routes, permitsActs)
        }
        return snapshot
    }

    private func take(_ routes: [Route], _ permitsActs: Bool) async -> ConsoleSnapshot {
        // Making a plan runs the commands of secrets, so none is made for those who may not act.
        var snapshot = await model.snapshot(for: permitsActs ? routes : routes.filter { $0.root != Route.plan.root })
        snapshot.routes = Set(routes)
        snapshot.acts = records.withLock(\.states)
        return permitsActs ? snapshot : snapshot.forReaders
    }

    /// Performs an act and awaits its outcome. Cancelling the task cancels the act.
    public func perform(_ act: ConsoleAct) async -> ActOutcome {
        let running = begin(act)
        return await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
    }

    /// Begins an act. Snapshots show it as pending while it runs and, if it fails, show the failure until it is performed again.
    ///
    /// - Returns: The task that performs it, off the caller's thread. An act of the application that still runs is refused.
    @discardableResult
    public func begin(_ act: ConsoleAct) -> Task<ActOutcome, Never> {
        guard records.withLock({ $0.begin(act) }) else {
            return Task { .refusal("still running: \(act.title)") }
        }
        change.yield()
        return Task.detached { [self] in
            let outcome = await outcome(of: act)
            records.withLock { $0.end(act, outcome) }
            change.yield()
            return outcome
        }
    }

    private func outcome(of act: ConsoleAct) async -> ActOutcome {
        guard case .application(let id, let route, let values) = act.subject.kind else {
            return await model.perform(act)
        }
        let snapshot = await take([route], true)
        guard let handler = registry.build(route, snapshot)?.handlers[id] else {
            return .failure(of: act, ConnectorError(.conflict, "it is no longer offered at \(route)"))
        }
        do {
            return try await handler(values)
        } catch {
            return .failure(of: act, error)
        }
    }
}
