// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorConsole

/// A console in a terminal, as a value: input and snapshots go in, requests come out.
///
/// It holds the coordinator, the slots, and the state that only a terminal has: cursors, searches and the status line.
package struct TerminalSession: Sendable {
    /// The operator's position.
    package private(set) var coordinator: Coordinator
    /// The scenes in their slots.
    package private(set) var windows: SceneLayout
    /// The message in the status line.
    package internal(set) var message = ""
    /// The search being typed; nil for none.
    package private(set) var prompt: String?
    private(set) var registry: ConsoleRegistry
    let palette: TerminalPalette
    private(set) var searches: [Route: String] = [:]
    /// The values entered into forms.
    var drafts: [FormID: FormDraft] = [:]
    /// The field being edited; nil for none.
    var edited: EditedField?
    /// The submitted forms and their acts, which have not ended yet; oldest first.
    var sentForms: [(act: ConsoleAct, form: FormID)] = []
    /// The selected entry of the menu.
    private(set) var choice = 0
    /// The route of the operation whose result is awaited; nil once the result is shown.
    private var awaited: Route?
    /// The cursors of scenes, by route.
    var cursors: [Route: SceneCursor] = [:]
    private var snapshot: ConsoleSnapshot
    /// The last scene of each route, shown until a new snapshot covers the route.
    private var cachedScenes: [Route: Scene] = [:]

    /// The maximum number of scenes and drafts kept, and of cursors besides those of routes to which going back leads.
    static let sceneLimit = 32

    /// A request to the terminal or the host, which the session cannot perform itself.
    package enum Effect: Sendable, Hashable {
        /// Take a new snapshot, because the visible routes changed.
        case refresh
        /// Pass an act to the console.
        case perform(ConsoleAct)
        /// Copy a text to the terminal's clipboard.
        case copy(String)
        /// Redraw everything.
        case redraw
        /// Suspend until the shell continues the program.
        case suspend
        /// Quit.
        case quit
    }

    /// Creates a session at a route.
    package init(
        _ registry: ConsoleRegistry,
        _ snapshot: ConsoleSnapshot,
        palette: TerminalPalette,
        at route: Route,
        width: Int,
        height: Int
    ) {
        self.registry = registry
        self.palette = palette
        self.snapshot = snapshot
        coordinator = Coordinator(registry, at: route)
        windows = SceneLayout(width: width, height: height)
        mount()
    }

    /// The routes that the snapshot must cover, besides those in the slots of their scenes.
    package var routes: [Route] { [coordinator.route] + [sideRoute].compactMap(\.self) }

    // MARK: Events

    /// Shows another snapshot.
    ///
    /// - Parameter registry: The current scenes; nil if they have not changed.
    /// - Returns: Whether the screen changed.
    package mutating func update(_ snapshot: ConsoleSnapshot, _ registry: ConsoleRegistry? = nil) -> Bool {
        self.snapshot = snapshot
        if let registry {
            self.registry = registry
            coordinator.follow(registry)
        }
        return mount()
    }

    /// Changes the size, in columns and lines.
    ///
    /// - Returns: Whether the screen changed.
    package mutating func resize(width: Int, height: Int) -> Bool {
        let isResized = windows.resize(width: width, height: height)
        return mount() || isResized
    }

    /// Handles the completion of an act.
    package mutating func done(_ outcome: ActOutcome) -> [Effect] {
        if let index = sentForms.firstIndex(where: { $0.act == coordinator.pending }) {
            note(outcome, in: sentForms.remove(at: index).form)
        }
        return dispatch(.done(outcome))
    }

    /// Handles input.
    package mutating func handle(_ input: TerminalInput) -> [Effect] {
        if prompt != nil { return type(input) }
        if coordinator.dialog != nil { return answer(input) }
        if edited != nil { return fill(input) }
        message = ""
        switch input {
        case .paste: return []
        case .wheel(let lines): return move(by: lines * 3)
        case .click(let column, let line): return click(column: column, line: line)
        case .key(.character(let character)) where shortcut(character) != nil:
            return shortcut(character).map { dispatch(.act($0)) } ?? []
        case .key(.character(let digit)) where ("1"..."9").contains(digit):
            let index = (digit.wholeNumberValue ?? 1) - 1
            guard index < coordinator.tabs.count else { return [] }
            return dispatch(.move(Route([coordinator.tabs[index]])))
        case .key(let key):
            guard let command = KeyBinding.command(for: key) else { return [] }
            return handle(command)
        }
    }

    /// Handles the command of a key outside forms and dialogs.
    mutating func handle(_ command: KeyBinding.Command) -> [Effect] {
        switch command {
        case .move(let lines): return move(by: lines)
        case .page(let pages): return move(by: pages * max(1, (windows.frames[.main]?.height ?? 2) - 2))
        case .enter:
            if let form, cursor.place?.component == form.component { return beginEditing() }
            if let link = row?.link { return dispatch(.move(link)) }
            let acts = row?.acts ?? []
            return acts.isEmpty ? [] : dispatch(acts.count == 1 ? .act(acts[0]) : .choose(acts))
        case .edit: return beginEditing()
        case .back:
            guard searches[coordinator.route] == nil else {
                searches[coordinator.route] = nil
                mount()
                return []
            }
            return dispatch(.back)
        case .turn(let places): return dispatch(.turn(places))
        case .search:
            prompt = searches[coordinator.route] ?? ""
            return []
        case .act(let verb): return act(verb, onAll: false)
        case .actOnAll(let verb): return act(verb, onAll: true)
        case .choose: return dispatch(.choose((row?.acts ?? []) + (windows[.main]?.acts ?? [])))
        case .copy: return copy()
        case .help: return dispatch(.help)
        case .redraw: return [.redraw]
        case .suspend: return [.suspend]
        case .quit: return dispatch(.quit)
        }
    }

    /// Passes an event to the coordinator, performs the actions that concern the session, and returns the rest as effects.
    mutating func dispatch(_ event: Coordinator.Event) -> [Effect] {
        let shown = coordinator.route
        var effects: [Effect] = []
        for action in coordinator.handle(event) {
            switch action.kind {
            case .show: effects.append(.refresh)
            case .present, .dismiss: choice = 0
            case .perform(let act):
                if case .operation(let name, let path, _, _) = act.subject.kind { awaited = .operation(name, of: path) }
                effects.append(.perform(act))
            case .tell(let sentence): message = sentence
            case .quit: effects.append(.quit)
            }
        }
        // Show the cached scene until a new snapshot arrives.
        if shown != coordinator.route { mount() } else { mountDialog() }
        return effects
    }

    private mutating func type(_ input: TerminalInput) -> [Effect] {
        switch input {
        case .key(.enter): prompt = nil
        case .key(.escape), .key(.control("c")):
            prompt = nil
            searches[coordinator.route] = nil
        case .key(.backspace): _ = prompt?.popLast()
        case .key(.control("u")): prompt = ""
        case .key(.character(let character)): prompt?.append(character)
        case .paste(let text): prompt? += text.filter { !$0.isNewline }
        case .key(.up): return move(by: -1)
        case .key(.down): return move(by: 1)
        default: return []
        }
        if let prompt { searches[coordinator.route] = prompt.isEmpty ? nil : prompt }
        mount()
        return []
    }

    private mutating func answer(_ input: TerminalInput) -> [Effect] {
        if let choices = coordinator.dialog?.choices, !choices.isEmpty {
            switch input {
            case .key(.up), .key(.character("k")): return selectChoice(choice - 1)
            case .key(.down), .key(.character("j")): return selectChoice(choice + 1)
            case .wheel(let lines): return selectChoice(choice + lines)
            case .key(.enter): return dispatch(.choice(choice))
            case .key(.character(let digit)) where ("1"..."9").contains(digit):
                return dispatch(.choice((digit.wholeNumberValue ?? 1) - 1))
            default: break
            }
        }
        switch input {
        case .key(.control("c")): return dispatch(.quit)
        case .key(.control("l")): return [.redraw]
        case .key(.control("z")): return [.suspend]
        case .key(.character("y")), .key(.character("Y")):
            return dispatch(coordinator.dialog?.confirmed == nil ? .back : .answer(true))
        // Only y confirms, so no other key can lose data by mistake.
        case .key(.enter) where coordinator.dialog != .help: return []
        case .key, .click: return dispatch(.back)
        case .wheel, .paste: return []
        }
    }

    private mutating func selectChoice(_ index: Int) -> [Effect] {
        choice = max(0, min((coordinator.dialog?.choices.count ?? 1) - 1, index))
        mountDialog()
        return []
    }

    // MARK: Slots

    private var sideRoute: Route? {
        guard windows.hasSide, coordinator.stack.count == 1, let link = row?.link else { return nil }
        return link == coordinator.route ? nil : link
    }

    /// Mounts the scenes of the snapshot.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func mount() -> Bool {
        let route = coordinator.route
        let unfiltered = self.scene(of: route)
        if let edited, !unfiltered.hasField(edited) { self.edited = nil }
        let scene = filled(unfiltered.filtered(by: searches[route] ?? ""))
        var hasChanged = windows.mount(scene, in: .main)
        if cursors.count >= Self.sceneLimit, cursors[route] == nil { forgetOthers() }
        cursors[route, default: SceneCursor()].follow(scene)
        reveal(scene)
        if let frame = windows.frames[.main] {
            cursors[route]?.scroll(MainView.page(scene, in: frame, palette), height: MainView.height(of: frame))
        }
        hasChanged = mountSideScene() || hasChanged
        let tabs = TabBar(coordinator, registry, palette).scene(snapshot)
        hasChanged = windows.mount(tabs, in: .navigation) || hasChanged
        return mountDialog() || hasChanged
    }

    /// Forgets the cursors and searches of routes to which going back does not lead.
    private mutating func forgetOthers() {
        cursors = cursors.filter { coordinator.remembers($0.key) }
        searches = searches.filter { coordinator.remembers($0.key) }
    }

    /// Selects a row.
    mutating func select(_ place: Page.RowIndex) {
        if let scene = windows[.main] { cursors[coordinator.route]?.select(place, in: scene) }
    }

    /// Scrolls to the result of a call once it arrives, unless the operator has moved on.
    private mutating func reveal(_ scene: Scene) {
        guard awaited == scene.route, edited == nil, coordinator.pending == nil,
            let result = scene.components.indices.last(where: { scene.components[$0].id == "result" })
        else { return }
        awaited = nil
        cursors[scene.route]?.select(Page.RowIndex(component: result, row: 0), in: scene)
    }

    /// Mounts the target of the selected row's link in the side slot, after the selection has changed.
    mutating func mountSide() -> [Effect] {
        let before = windows[.side]?.route
        _ = mountSideScene()
        if let frame = windows.frames[.main], let scene = windows[.main] {
            cursors[coordinator.route]?.scroll(
                MainView.page(scene, in: frame, palette),
                height: MainView.height(of: frame)
            )
        }
        return windows[.side]?.route == before ? [] : [.refresh]
    }

    private mutating func mountSideScene() -> Bool {
        guard let route = sideRoute else { return windows.mount(nil, in: .side) }
        return windows.mount(scene(of: route), in: .side)
    }

    /// The scene of a route; its last known version if the snapshot does not cover the route.
    private mutating func scene(of route: Route) -> Scene {
        let isCovered = snapshot.covers(route)
        if !isCovered, let scene = cachedScenes[route] { return scene }
        let scene = registry.scene(for: route, of: snapshot)
        guard isCovered else { return scene }
        if cachedScenes.count >= Self.sceneLimit { cachedScenes = [:] }
        cachedScenes[route] = scene
        return scene
    }

    @discardableResult
    private mutating func mountDialog() -> Bool {
        let scene = coordinator.dialog.map {
            DialogScene.scene(of: $0, registry, selected: choice, lines: max(1, windows.height - 4))
        }
        windows.overlayHeight = scene.map { Page($0, width: windows.overlayWidth - 4, palette).lines.count + 2 } ?? 0
        return windows.mount(scene, in: .overlay)
    }
}

extension Scene {
    /// Whether one of its forms has a field.
    fileprivate func hasField(_ edited: EditedField) -> Bool {
        component(edited.component)?.form?.fields.contains { $0.name == edited.name } ?? false
    }
}
