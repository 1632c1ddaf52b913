// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorConsole
public import ConnectorHost

/// A console for tests: go to a route, look at the scene as a value, act, and look again. It needs no terminal and no clock.
///
/// ```swift
/// var bench = await SceneBench(SiteModel(sites), registry, at: Route(SiteRoute.list))
/// #expect(bench.scene.component("list")?.rows.count == 2)
/// try await bench.act("remove bonn")
/// #expect(bench.question == "Remove it?")
/// await bench.answer(true)
/// #expect(bench.scene.component("list")?.rows.count == 1)
/// ```
///
/// The scene is that of the moment when the last call returned; ``refresh()`` takes a new one.
public struct SceneBench: Sendable {
    /// The console.
    public let console: Console
    /// The operator's position.
    public private(set) var coordinator: Coordinator
    /// The scene of the current route.
    public private(set) var scene: Scene
    /// The last message to the operator; empty if there has been none.
    public private(set) var message = ""
    /// The errors in the fields of the form that was last filled in, by name.
    public private(set) var fieldErrors: [String: String] = [:]
    private var running: Task<ActOutcome, Never>?

    /// Opens a console of the application's model or, by default, one without a host.
    public init(
        _ model: any ConsoleModel = EmptyConsoleModel(),
        _ registry: ConsoleRegistry = .standard,
        at route: Route
    ) async {
        console = Console(model, registry)
        coordinator = Coordinator(console.registry, at: route)
        scene = Scene(route, "", [])
        await refresh()
    }

    /// Opens the console of a host.
    public init(_ host: ConnectorHost, _ registry: ConsoleRegistry = .standard, at route: Route) async {
        await self.init(HostConsoleModel(host), registry, at: route)
    }

    /// The question of the dialog in front; nil if there is none.
    public var question: String? { coordinator.dialog?.confirmed.map { $0.question ?? $0.title } }

    /// Takes the scene of the current state.
    public mutating func refresh() async {
        coordinator.follow(console.registry)
        let route = coordinator.route
        scene = console.registry.scene(for: route, of: await console.snapshot(for: [route]))
    }

    /// Opens a route.
    public mutating func move(to route: Route) async { await handle(.move(route)) }

    /// Opens the route that a value names.
    public mutating func move(to value: some RouteValue) async { await handle(.move(value)) }

    /// Goes back, or closes the dialog.
    public mutating func back() async { await handle(.back) }

    /// Requests an act, and awaits its end unless it asks a question first.
    ///
    /// - Parameter name: Its id, its title, or the name that ``SceneContext`` bound a closure to.
    /// - Throws: `missing` if the scene does not offer the act; the error lists those that it offers.
    public mutating func act(_ name: String) async throws(ConnectorError) { await handle(.act(try act(named: name))) }

    /// Requests an act, and leaves it running: the scene shows it as pending until ``finish()``.
    ///
    /// - Throws: `missing` if the scene does not offer the act; the error lists those that it offers.
    public mutating func begin(_ name: String) async throws(ConnectorError) {
        await handle(.act(try act(named: name)), waits: false)
    }

    /// Awaits the end of the running act; does nothing if none runs.
    public mutating func finish() async {
        guard let running else { return }
        let outcome = await running.value
        self.running = nil
        fieldErrors = outcome.fieldErrors
        await handle(.done(outcome))
    }

    /// Answers the dialog's question, and awaits the end of an act that this confirms.
    public mutating func answer(_ isYes: Bool) async { await handle(.answer(isYes)) }

    /// Fills in a form and sends it, unless a field is invalid.
    ///
    /// - Parameters:
    ///   - id: The id of the form's component.
    ///   - texts: The texts of fields, by name; the other fields keep their initial texts.
    /// - Throws: `missing` if the scene has no such form.
    public mutating func fill(_ id: String, _ texts: [String: String] = [:]) async throws(ConnectorError) {
        guard let form = scene.component(id)?.form else {
            throw ConnectorError(.missing, "there is no form \(id) at \(scene.route)", fix: offer(of: scene.forms))
        }
        let start = Dictionary(form.fields.map { ($0.name, $0.value) }) { first, _ in first }
        do throws(FormFault) {
            let act = try form.act(start.merging(texts) { $1 })
            fieldErrors = [:]
            await handle(.act(act))
        } catch {
            fieldErrors = error.errors
            message = error.errors.values.sorted().joined(separator: "; ")
        }
    }

    /// The texts of the scene, one line for each title, state and row.
    public var text: String {
        let parts = scene.components.map { component in
            let lines = component.rows.map { row in row.cells.map(\.text).joined(separator: " | ") }
            let head = [component.title, component.state.text.text].filter { !$0.isEmpty }
            return (head + lines).joined(separator: "\n")
        }
        return ([scene.title] + parts).joined(separator: "\n")
    }

    private func act(named name: String) throws(ConnectorError) -> ConsoleAct {
        let acts = scene.allActs
        let found = acts.first { $0.id == name } ?? acts.first { $0.id.hasPrefix("\(name) at /") || $0.title == name }
        if let found { return found }
        throw ConnectorError(.missing, "there is no act \(name) at \(scene.route)", fix: offer(of: acts.map(\.id)))
    }

    private func offer(of names: [String]) -> String {
        names.isEmpty ? "the scene offers none" : "the scene offers \(names.joined(separator: ", "))"
    }

    /// Passes an event to the coordinator, and performs what it asks for.
    private mutating func handle(_ event: Coordinator.Event, waits: Bool = true) async {
        for action in coordinator.handle(event) {
            if let sentence = action.message { message = sentence }
            if let act = action.performed { running = console.begin(act) }
        }
        if waits, running != nil { await finish() } else { await refresh() }
    }
}

extension Scene {
    /// The ids of the components that are forms.
    fileprivate var forms: [String] { components.filter { $0.form != nil }.map(\.id) }
}
