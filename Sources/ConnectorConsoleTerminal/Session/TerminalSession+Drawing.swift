// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension TerminalSession {
    /// Draws the screen.
    package func draw() -> Canvas {
        var canvas = Canvas(width: windows.width, height: windows.height, isUnicode: palette.isUnicode)
        let frames = windows.frames
        if let frame = frames[.navigation], let scene = windows[.navigation] {
            TabBar(coordinator, registry, palette).draw(scene, on: &canvas, in: frame)
        }
        if let frame = frames[.main], let scene = windows[.main] {
            MainView.draw(scene, cursor, search: searches[coordinator.route], on: &canvas, in: frame, palette)
        }
        if let frame = frames[.side], let scene = windows[.side] {
            for line in frame.line..<(frame.line + frame.height) {
                canvas.write("│", palette.attributes(.muted), line: line, column: frame.column - 2, width: 1)
            }
            MainView.draw(scene, nil, search: nil, on: &canvas, in: frame, palette)
        }
        if let frame = frames[.status] { drawStatus(on: &canvas, in: frame) }
        if let frame = frames[.overlay], let scene = windows[.overlay] { draw(scene, on: &canvas, in: frame) }
        return canvas
    }

    private func drawStatus(on canvas: inout Canvas, in frame: SceneLayout.Frame) {
        if let prompt {
            canvas.write(
                "/\(prompt)",
                palette.attributes(.strong),
                line: frame.line,
                column: frame.column,
                width: frame.width
            )
            return
        }
        if message.isEmpty, let field = editedField {
            let help = [field.help, field.example.isEmpty ? "" : "such as \(field.example)"].filter { !$0.isEmpty }
            let text = (["enter send", "tab next", "escape leave"] + help).joined(separator: "   ")
            canvas.write(text, palette.attributes(.muted), line: frame.line, column: frame.column, width: frame.width)
            return
        }
        guard message.isEmpty else {
            canvas.write(
                message,
                palette.attributes(.strong),
                line: frame.line,
                column: frame.column,
                width: frame.width
            )
            return
        }
        var hints = ["? keys", "/ search", "q quit"]
        if row?.link != nil { hints.append("enter open") }
        if form != nil { hints.append("e fill in the form") }
        let acts = row?.acts ?? []
        if row?.link == nil, acts.count == 1 { hints.append("enter \(acts[0].verb.rawValue)") }
        let verbs = (acts.isEmpty ? windows[.main]?.acts ?? [] : acts).map { act in
            let key = act.shortcut.map { String($0) } ?? KeyBinding.name(of: act.verb, onAll: act.subject.isEveryLetter)
            return key.isEmpty ? "a actions" : "\(key) \(act.verb.rawValue)"
        }
        for hint in verbs where !hints.contains(hint) { hints.append(hint) }
        let text = hints.joined(separator: "   ")
        canvas.write(text, palette.attributes(.muted), line: frame.line, column: frame.column, width: frame.width)
    }

    /// The lines of a dialog that are in sight, if there is not room for all of them: the list of keys is scrolled, and a question keeps
    /// its last line, which says how to answer it.
    private func shownLines(of page: Page, _ room: Int) -> [Int] {
        let lines = page.lines.indices
        guard lines.count > room, room > 0 else { return Array(lines.prefix(room)) }
        if coordinator.dialog?.confirmed != nil { return Array(lines.prefix(room - 1)) + lines.suffix(1) }
        let first = coordinator.dialog == .help ? min(choice, lines.count - room) : 0
        return Array(lines.dropFirst(first).prefix(room))
    }

    private func draw(_ scene: Scene, on canvas: inout Canvas, in frame: SceneLayout.Frame) {
        let (attributes, right) = (palette.attributes(.overlay), frame.column + frame.width - 1)
        for line in frame.line..<(frame.line + frame.height) {
            canvas.fill(attributes, line: line, column: frame.column, width: frame.width)
            canvas.write("│", attributes, line: line, column: frame.column, width: 1)
            canvas.write("│", attributes, line: line, column: right, width: 1)
        }
        let edge = String(repeating: "─", count: max(0, frame.width - 2))
        let bottom = frame.line + frame.height - 1
        canvas.write("┌\(edge)┐", attributes, line: frame.line, column: frame.column, width: frame.width)
        canvas.write("└\(edge)┘", attributes, line: bottom, column: frame.column, width: frame.width)
        let page = Page(scene, width: max(0, frame.width - 4), palette)
        let room = max(0, frame.height - 2)
        let scrolls = coordinator.dialog == .help && page.lines.count > room
        canvas.write(
            scrolls ? " \(scene.title): up, down " : " \(scene.title) ",
            palette.attributes(.title),
            line: frame.line,
            column: frame.column + 2,
            width: frame.width - 4
        )
        for (offset, index) in shownLines(of: page, room).enumerated() {
            var column = frame.column + 2
            for span in page.text(of: index).spans {
                column += canvas.write(
                    span.text,
                    palette.attributes(span.style, .overlay),
                    line: frame.line + 1 + offset,
                    column: column,
                    width: right - 1 - column
                )
            }
        }
    }
}
