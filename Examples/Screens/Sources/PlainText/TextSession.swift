// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// A platform for scenes: lines go in, lines come out. It runs in a pipe, and in a test.
///
/// | line | does |
/// |---|---|
/// | `open 2`, `open /notes` | opens a link by its number, or a route |
/// | `back` | goes back, or closes the question |
/// | `do TITLE` | performs an act |
/// | `yes`, `no` | answers its question |
/// | `fill FORM NAME=VALUE …` | fills in a form and sends it; `_` in a value is a blank |
/// | `show` | shows the scene again |
/// | `quit` | ends |
public struct TextSession {
    private let console: Console
    private var coordinator: Coordinator
    private var layout = SceneLayout(width: 80, height: 24)
    private var links: [Route] = []

    /// Starts at a route.
    public init(_ console: Console, at route: Route) {
        self.console = console
        coordinator = Coordinator(console.registry, at: route)
    }

    /// The scene of the current route.
    public mutating func show() async -> [String] {
        coordinator.follow(console.registry)
        let route = coordinator.route
        let snapshot = await console.snapshot(for: [route])
        layout.mount(console.registry.scene(for: route, of: snapshot), in: .main)
        guard let scene = layout[.main] else { return [] }
        let text = TextScene(scene)
        links = text.links
        return text.lines
    }

    /// Handles a line.
    ///
    /// - Returns: What to print; nil at the end.
    public mutating func handle(_ line: String) async -> [String]? {
        let words = line.split(separator: " ").map(String.init)
        let rest = words.dropFirst().joined(separator: " ")
        switch words.first {
        case nil: return []
        case "quit": return nil
        case "show": return await show()
        case "back": return await pass(.back)
        case "yes": return await pass(.answer(true))
        case "no": return await pass(.answer(false))
        case "open":
            let link = Int(rest).flatMap { links.indices.contains($0 - 1) ? links[$0 - 1] : nil }
            guard let route = link ?? Route(rest) else { return ["! there is no link \(rest)"] }
            return await pass(.move(route))
        case "do":
            let act = layout[.main]?.allActs.first { $0.title == rest }
            guard let act else { return ["! there is no act \(rest)"] }
            return await pass(.act(act))
        case "fill": return await fill(Array(words.dropFirst()))
        case .some(let word): return ["! \(word) is not open, back, do, yes, no, fill, show or quit"]
        }
    }

    private mutating func fill(_ words: [String]) async -> [String] {
        guard let id = words.first, let form = layout[.main]?.component(id)?.form else {
            return ["! there is no such form"]
        }
        var texts = Dictionary(form.fields.map { ($0.name, $0.value) }) { first, _ in first }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, texts[parts[0]] != nil else { return ["! \(word) is not FIELD=VALUE"] }
            texts[parts[0]] = String(parts[1].map { $0 == "_" ? " " : $0 })
        }
        do throws(FormFault) {
            return await pass(.act(try form.act(texts)))
        } catch {
            return error.errors.sorted { $0.key < $1.key }.map { "! \($0.value)" }
        }
    }

    /// Passes an event to the coordinator, performs the actions that it returns, and prints what the operator should see.
    private mutating func pass(_ event: Coordinator.Event) async -> [String] {
        let actions = coordinator.handle(event)
        var lines = actions.compactMap(\.message).map { "> \($0)" }
        lines += actions.compactMap(\.presented).map { "? \($0.confirmed?.question ?? "") (yes, no)" }
        for action in actions {
            if let act = action.performed {
                // The scene is shown once before the act ends, so that it says what is pending.
                let running = console.begin(act)
                lines += await show().filter { $0.contains("(working …)") }
                lines += await pass(.done(await running.value))
            } else if action.shown != nil {
                lines += await show()
            }
        }
        return lines
    }
}
