// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension TerminalSession {
    /// The form of the visible scene, and the index of its component.
    var form: (form: OperationForm, component: Int)? {
        guard let scene = windows[.main], scene.route == coordinator.route else { return nil }
        return scene.components.enumerated().lazy.compactMap { item in
            item.element.form.map { ($0, item.offset) }
        }.first
    }

    /// The field being edited.
    var editedField: FormField? {
        guard let edited else { return nil }
        return form?.form.fields.first { $0.name == edited }
    }

    /// The scene with the entered values in its form.
    func filled(_ scene: Scene) -> Scene {
        let draft = drafts[scene.route] ?? FormDraft()
        var scene = scene
        for index in scene.components.indices where scene.components[index].form != nil {
            let isShown = scene.route == coordinator.route
            scene.components[index].rows = draft.rows(
                of: scene.components[index],
                edited: isShown ? edited : nil,
                mark: palette.isUnicode ? "▏" : "|"
            )
        }
        return scene
    }

    /// Starts editing the selected field, or the first one; a form without fields is sent.
    mutating func beginEditing() -> [Effect] {
        guard let (form, component) = form else {
            message = "there is no form on this page"
            return []
        }
        guard !form.fields.isEmpty else { return send(form) }
        let row = cursor.place.flatMap { $0.component == component ? $0.row : nil } ?? 0
        return edit(form, component, row)
    }

    /// Handles input while a form is edited.
    mutating func fill(_ input: TerminalInput) -> [Effect] {
        guard let (form, component) = form, let field = editedField,
            let row = form.fields.firstIndex(of: field)
        else {
            endEditing()
            return handle(input)
        }
        message = ""
        switch input {
        case .key(.escape), .key(.control("c")):
            endEditing()
            return []
        case .key(.enter): return send(form)
        case .key(.tab), .key(.down): return edit(form, component, (row + 1) % form.fields.count)
        case .key(.backTab), .key(.up):
            return edit(form, component, (row + form.fields.count - 1) % form.fields.count)
        case .key(.control("l")): return [.redraw]
        case .key(.control("z")): return [.suspend]
        case .key(let key):
            guard change(field, { $0.handle(key, in: field) }) else { return [] }
        case .paste(let text):
            _ = change(field) { draft in
                draft.paste(text, into: field)
                return true
            }
        case .wheel: return []
        case .click:
            endEditing()
            return handle(input)
        }
        mount()
        return []
    }

    /// Changes an entered value, and clears its error.
    private mutating func change(_ field: FormField, _ body: (inout FormDraft) -> Bool) -> Bool {
        var draft = drafts[coordinator.route] ?? FormDraft()
        guard body(&draft) else { return false }
        draft.errors[field.name] = nil
        store(draft)
        return true
    }

    private mutating func edit(_ form: OperationForm, _ component: Int, _ row: Int) -> [Effect] {
        edited = form.fields[row].name
        select(Page.RowIndex(component: component, row: row))
        mount()
        return []
    }

    private mutating func endEditing() {
        edited = nil
        mount()
    }

    /// Requests the call, or shows the errors in their fields.
    private mutating func send(_ form: OperationForm) -> [Effect] {
        var draft = drafts[coordinator.route] ?? FormDraft()
        do throws(FormFault) {
            let act = try form.act(draft.texts)
            draft.errors = [:]
            store(draft)
            endEditing()
            return tell(.act(act))
        } catch {
            draft.errors = error.errors
            store(draft)
            guard let component = self.form?.component,
                let row = form.fields.firstIndex(where: { error.errors[$0.name] != nil })
            else {
                message = error.errors.values.sorted().joined(separator: "; ")
                return []
            }
            message = error.errors[form.fields[row].name] ?? ""
            return edit(form, component, row)
        }
    }

    private mutating func store(_ draft: FormDraft) {
        if drafts.count >= Self.sceneLimit, drafts[coordinator.route] == nil { drafts = [:] }
        drafts[coordinator.route] = draft
    }
}
