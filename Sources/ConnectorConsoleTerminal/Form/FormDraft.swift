// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// The values entered into a form so far.
struct FormDraft: Sendable, Hashable {
    private var lines: [String: LineEditor] = [:]
    /// The error messages, by field.
    var errors: [String: String] = [:]

    /// The texts, by field: the entered one, or else the field's initial one.
    func texts(of fields: [FormField]) -> [String: String] {
        Dictionary(fields.map { ($0.name, line(of: $0).text) }) { first, _ in first }
    }

    private func line(of field: FormField) -> LineEditor { lines[field.name] ?? LineEditor(field.value) }

    /// Inserts pasted text into a field; a field with choices takes none.
    ///
    /// - Returns: Whether the field had room for all of it.
    mutating func paste(_ text: String, into field: FormField) -> Bool {
        guard field.kind.choices.isEmpty else { return true }
        let start = line(of: field)
        return lines[field.name, default: start].insert(text)
    }

    /// Handles a key in a field.
    ///
    /// - Returns: Whether the key was handled.
    mutating func handle(_ key: TerminalInput.Key, in field: FormField) -> Bool {
        guard field.kind.choices.isEmpty else { return choose(key, in: field) }
        let start = line(of: field)
        return lines[field.name, default: start].handle(key)
    }

    /// Steps through the choices of a field; an empty value is one of them.
    private mutating func choose(_ key: TerminalInput.Key, in field: FormField) -> Bool {
        let choices = [""] + field.kind.choices
        let current = choices.firstIndex(of: line(of: field).text) ?? 0
        let next: String
        switch key {
        case .right, .character(" "): next = choices[(current + 1) % choices.count]
        case .left: next = choices[(current + choices.count - 1) % choices.count]
        case .backspace, .delete, .control("u"): next = ""
        case .character(let letter):
            let others = choices[(current + 1)...] + choices[...current]
            guard let found = others.first(where: { $0.first == letter }) else { return true }
            next = found
        default: return false
        }
        lines[field.name] = LineEditor(next)
        return true
    }

    /// The rows of the form: each a label, followed by the text or a hint.
    ///
    /// - Parameters:
    ///   - edited: The field that has the cursor; nil for none.
    ///   - mark: The character that marks the cursor.
    func rows(of component: Component, edited: String?, mark: String) -> [Row] {
        zip(component.rows, component.form?.fields ?? []).map { row, field in
            let line = line(of: field)
            var cell = StyledText(line.text)
            if field.name == edited {
                let (before, after) = line.halves
                cell = StyledText(before) + StyledText(mark, .strong) + StyledText(after)
                if !field.kind.choices.isEmpty {
                    cell = cell + StyledText("  left, right: \(field.kind.choices.joined(separator: ", "))", .muted)
                }
            } else if line.text.isEmpty {
                cell = row.cells.last ?? ""
            }
            if let error = errors[field.name] { cell = cell + StyledText("  \(error)", .bad) }
            var row = row
            row.cells = [StyledText(field.label + (field.isRequired ? " *" : ""), .strong), cell]
            return row
        }
    }
}
