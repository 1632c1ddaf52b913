// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorConsole

/// A console in a terminal, as a value: keys and snapshots go in, and what to do comes out.
///
/// It holds the coordinator, the slots, and what only a terminal has: cursors, searches and the last line.
package struct TerminalSession: Sendable {
    /// Where somebody is.
    package private(set) var coordinator: Coordinator
    /// What is mounted where.
    package private(set) var windows: WindowManager
    /// What stands in the last line.
    package internal(set) var message = ""
    /// What is being typed into a search; nil if nothing is.
    package private(set) var prompt: String?
    let registry: ConsoleRegistry
    let palette: TerminalPalette
    private(set) var searches: [Route: String] = [:]
    /// What was written into forms.
    var drafts: [Route: FormDraft] = [:]
    /// The field of the form that is being written in; nil if none is.
    var edited: String?
    /// The operation whose call was asked for last, until what it comes to is shown.
    private var awaited: Route?
    /// The rows that keys act on.
    var cursors: [Route: SceneCursor] = [:]
    private var snapshot: ConsoleSnapshot
    /// What was last shown at routes, for the moment until a snapshot is about them again.
    private var known: [Route: Scene] = [:]

    /// The most scenes that are kept.
    static let sceneLimit = 32

    /// Something that the session cannot do itself.
    package enum Effect: Sendable, Hashable {
        /// Get another snapshot: what is shown is another.
        case refresh
        /// Tell the host.
        case perform(ConsoleAct)
        /// Put a text where the terminal keeps what was copied.
        case copy(String)
        /// Draw everything, whatever is on the screen.
        case redraw
        /// Stop until the shell lets the program go on.
        case suspend
        /// End.
        case quit
    }

    /// Begins at a route.
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
        coordinator = Coordinator(tabs: registry.scenes.map(\.root), at: route)
        windows = WindowManager(width: width, height: height)
        mount()
    }

    /// The routes that the snapshot must be about.
    package var routes: [Route] { [coordinator.route] + [sideRoute].compactMap(\.self) }

    // MARK: What happens

    /// Takes another snapshot on.
    ///
    /// - Returns: Whether the screen is another.
    package mutating func update(_ snapshot: ConsoleSnapshot) -> Bool {
        self.snapshot = snapshot
        return mount()
    }

    /// Takes another size on.
    package mutating func resize(width: Int, height: Int) -> Bool {
        let isOther = windows.resize(width: width, height: height)
        return mount() || isOther
    }

    /// Takes on that the host has done what it was told.
    package mutating func done(_ sentence: String) -> [Effect] { tell(.done(sentence)) }

    /// Takes on what somebody did.
    package mutating func handle(_ input: TerminalInput) -> [Effect] {
        if prompt != nil { return type(input) }
        if coordinator.dialog != nil { return answer(input) }
        if edited != nil { return fill(input) }
        message = ""
        switch input {
        case .paste: return []
        case .wheel(let lines): return move(by: lines * 3)
        case .click(let column, let line): return click(column: column, line: line)
        case .key(.character(let digit)) where ("1"..."9").contains(digit):
            let index = (digit.wholeNumberValue ?? 1) - 1
            guard index < coordinator.tabs.count else { return [] }
            return tell(.move(Route([coordinator.tabs[index]])))
        case .key(let key):
            guard let command = KeyBinding.command(for: key) else { return [] }
            return handle(command)
        }
    }

    /// Does what a key means outside of forms and dialogs.
    mutating func handle(_ command: KeyBinding.Command) -> [Effect] {
        switch command {
        case .move(let rows): return move(by: rows)
        case .page(let pages): return move(by: pages * max(1, (windows.frames[.main]?.height ?? 2) - 2))
        case .enter:
            if let form, cursor.place?.component == form.component { return beginEditing() }
            return row?.link.map { tell(.move($0)) } ?? []
        case .edit: return beginEditing()
        case .back:
            guard searches[coordinator.route] == nil else {
                searches[coordinator.route] = nil
                mount()
                return []
            }
            return tell(.back)
        case .turn(let places): return tell(.turn(places))
        case .search:
            prompt = searches[coordinator.route] ?? ""
            return []
        case .act(let verb): return act(verb, onAll: false)
        case .actOnAll(let verb): return act(verb, onAll: true)
        case .copy: return copy()
        case .help: return tell(.help)
        case .redraw: return [.redraw]
        case .suspend: return [.suspend]
        case .quit: return tell(.quit)
        }
    }

    /// Tells the coordinator what happened, and does what it can of the answer.
    mutating func tell(_ event: Coordinator.Event) -> [Effect] {
        let shown = coordinator.route
        var effects: [Effect] = []
        for action in coordinator.handle(event) {
            switch action {
            case .show: effects.append(.refresh)
            case .present, .dismiss: break
            case .perform(let act):
                if act.verb == .call { awaited = coordinator.route }
                effects.append(.perform(act))
            case .tell(let sentence): message = sentence
            case .quit: effects.append(.quit)
            }
        }
        // What is known already is shown at once; the snapshot for it follows.
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
        switch input {
        case .key(.control("c")): return tell(.quit)
        case .key(.control("l")): return [.redraw]
        case .key(.control("z")): return [.suspend]
        case .key(.character("y")), .key(.character("Y")):
            if case .confirmation = coordinator.dialog { return tell(.answer(true)) }
            return tell(.back)
        // What is lost is not lost by a key that was meant for something else.
        case .key(.enter) where coordinator.dialog != .help: return []
        case .key, .click: return tell(.back)
        case .wheel, .paste: return []
        }
    }

    // MARK: Slots

    private var sideRoute: Route? {
        guard windows.hasSide, coordinator.stack.count == 1, let link = row?.link else { return nil }
        return link == coordinator.route ? nil : link
    }

    /// Mounts what the snapshot shows.
    ///
    /// - Returns: Whether anything is another.
    @discardableResult
    mutating func mount() -> Bool {
        let route = coordinator.route
        let found = self.scene(of: route)
        if edited != nil, !found.hasField(edited) { edited = nil }
        let scene = filled(found.filtered(by: searches[route] ?? ""))
        var isOther = !windows.mount(scene, in: .main).isEmpty
        cursors[route, default: SceneCursor()].follow(scene)
        reveal(scene)
        if let frame = windows.frames[.main] {
            cursors[route]?.scroll(MainView.page(scene, in: frame, palette), height: MainView.height(of: frame))
        }
        isOther = mountSideScene() || isOther
        isOther =
            !windows.mount(TabBar(coordinator, registry, palette).scene(snapshot), in: .navigation).isEmpty || isOther
        return mountDialog() || isOther
    }

    /// Goes to a row.
    mutating func select(_ place: Page.RowPlace) {
        if let scene = windows[.main] { cursors[coordinator.route]?.select(place, in: scene) }
    }

    /// Goes to what a call came to, once it is there and nobody does anything else.
    private mutating func reveal(_ scene: Scene) {
        guard awaited == scene.route, edited == nil, coordinator.pending == nil,
            let result = scene.components.indices.last(where: { scene.components[$0].id == "result" })
        else { return }
        awaited = nil
        cursors[scene.route]?.select(Page.RowPlace(component: result, row: 0), in: scene)
    }

    /// Mounts what the row leads to beside it, after the row has changed.
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
        guard let route = sideRoute else { return !windows.mount(nil, in: .side).isEmpty }
        return !windows.mount(scene(of: route), in: .side).isEmpty
    }

    /// The scene of a route, or what it was when the host last said something about it.
    private mutating func scene(of route: Route) -> Scene {
        let isKnown = snapshot.isAbout(route)
        if !isKnown, let scene = known[route] { return scene }
        let scene = registry.scene(for: route, of: snapshot)
        guard isKnown else { return scene }
        if known.count >= Self.sceneLimit { known = [:] }
        known[route] = scene
        return scene
    }

    @discardableResult
    private mutating func mountDialog() -> Bool {
        let scene = coordinator.dialog.map { DialogScene.scene(of: $0, registry) }
        windows.overlayHeight = scene.map { Page($0, width: windows.overlayWidth - 4, palette).lines.count + 2 } ?? 0
        return !windows.mount(scene, in: .overlay).isEmpty
    }
}

extension Scene {
    /// Whether a form of it asks for a field.
    fileprivate func hasField(_ name: String?) -> Bool {
        components.contains { component in component.form?.fields.contains { $0.name == name } ?? false }
    }
}
