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
    /// The selected entry of the menu, or the first line of the list of keys that is in sight.
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
    /// The maximum length of a search, in characters.
    static let searchLimit = 200
    /// The largest screen that is drawn. A terminal may claim any size, and each cell takes memory.
    static let sizeLimit = (width: 1000, height: 500)

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
        windows = SceneLayout(width: min(width, Self.sizeLimit.width), height: min(height, Self.sizeLimit.height))
        mount()
    }

    /// The routes that the snapshot must cover, besides those in the slots of their scenes.
    package var routes: [Route] { [searchedRoute] + [sideRoute].compactMap(\.self) }

    /// The current route, or that of what its search finds, if the search is part of a route.
    private var searchedRoute: Route { coordinator.route.searched(by: searches[coordinator.route] ?? "") }

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
        let isResized = windows.resize(
            width: min(width, Self.sizeLimit.width),
            height: min(height, Self.sizeLimit.height)
        )
        return mount() || isResized
    }

    /// Handles the completion of an act.
    package mutating func done(_ outcome: ActOutcome) -> [Effect] {
        if let index = sentForms.firstIndex(where: { $0.act == coordinator.pending }) {
            note(outcome, in: sentForms.remove(at: index).form)
        }
        return dispatch(.done(outcome))
    }

    /// Handles the first of some inputs, together with the characters after it if they are entered into a text, and removes them.
    ///
    /// A terminal that does not mark pasted text sends it as keys. As one text it is laid out once, and not once for each of its
    /// characters.
    package mutating func handle(_ inputs: inout ArraySlice<TerminalInput>) -> [Effect] {
        let text = takesText ? String(inputs.prefix { $0.character != nil }.compactMap(\.character)) : ""
        guard text.count > 1 else { return inputs.popFirst().map { handle($0) } ?? [] }
        inputs = inputs.drop { $0.character != nil }
        return handle(.paste(text))
    }

    /// Whether characters are entered into a search or a field, where a paste of them does the same.
    private var takesText: Bool {
        guard prompt == nil else { return true }
        return coordinator.dialog == nil && editedField?.kind.choices.isEmpty ?? false
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
                let searched = searchedRoute
                searches[coordinator.route] = nil
                return mount(after: searched)
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
        let searched = searchedRoute
        switch input {
        case .key(.enter): prompt = nil
        case .key(.escape), .key(.control("c")):
            prompt = nil
            searches[coordinator.route] = nil
        case .key(.backspace): _ = prompt?.popLast()
        case .key(.control("u")): prompt = ""
        case .key(.character(let character)): enter(String(character))
        case .paste(let text): enter(text)
        case .key(.up): return move(by: -1)
        case .key(.down): return move(by: 1)
        default: return []
        }
        if let prompt { searches[coordinator.route] = prompt.isEmpty ? nil : prompt }
        return mount(after: searched)
    }

    /// Appends a text to the search, up to its maximum length.
    private mutating func enter(_ text: String) {
        prompt = prompt.map { String(($0 + text.filter { !$0.isNewline }).prefix(Self.searchLimit)) }
    }

    /// Shows what the changed search finds among the rows that are known.
    ///
    /// - Returns: The request for a snapshot of everything else that it finds, unless the rows are all there are.
    private mutating func mount(after searched: Route) -> [Effect] {
        mount()
        return searchedRoute == searched ? [] : [.refresh]
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
        let hidden = windows.overlayHeight - (windows.frames[.overlay]?.height ?? 0)
        if coordinator.dialog == .help, hidden > 0 {
            switch input {
            case .key(.up), .key(.character("k")): return scroll(by: -1, of: hidden)
            case .key(.down), .key(.character("j")): return scroll(by: 1, of: hidden)
            case .key(.pageUp): return scroll(by: -10, of: hidden)
            case .key(.pageDown): return scroll(by: 10, of: hidden)
            case .wheel(let lines): return scroll(by: lines, of: hidden)
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

    /// Scrolls the list of keys, which has some more lines than are in sight.
    private mutating func scroll(by lines: Int, of hidden: Int) -> [Effect] {
        choice = max(0, min(hidden, choice + lines))
        return []
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
        var unfiltered = self.scene(of: searchedRoute, besides: route)
        unfiltered.route = route
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
    ///
    /// - Parameter other: The route whose last known scene is shown until the first version is known; nil for none.
    private mutating func scene(of route: Route, besides other: Route? = nil) -> Scene {
        let isCovered = snapshot.covers(route)
        if !isCovered, let scene = cachedScenes[route] ?? other.flatMap({ cachedScenes[$0] }) { return scene }
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
