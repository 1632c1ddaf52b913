// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension TerminalSession {
    /// A form of the visible scene, and its component's index: the form being edited, the one with the cursor, or the first.
    var form: (form: SceneForm, component: Int)? {
        guard let scene = windows[.main], scene.route == coordinator.route else { return nil }
        let components = scene.components
        let chosen =
            edited.flatMap { edited in components.firstIndex { $0.id == edited.component } } ?? cursor.place?.component
        if let chosen, components.indices.contains(chosen), let form = components[chosen].form { return (form, chosen) }
        return components.enumerated().lazy.compactMap { item in
            item.element.form.map { ($0, item.offset) }
        }.first
    }

    /// The identity of a form of the visible scene.
    private func id(ofFormIn component: Int) -> FormID {
        FormID(route: coordinator.route, component: windows[.main]?.components[component].id ?? "")
    }

    /// The field being edited.
    var editedField: FormField? {
        guard let edited else { return nil }
        return form?.form.fields.first { $0.name == edited.name }
    }

    /// The scene with the entered values in its forms.
    func filled(_ scene: Scene) -> Scene {
        var scene = scene
        for index in scene.components.indices where scene.components[index].form != nil {
            let id = scene.components[index].id
            let draft = drafts[FormID(route: scene.route, component: id)] ?? FormDraft()
            let isShown = scene.route == coordinator.route && edited?.component == id
            scene.components[index].rows = draft.rows(
                of: scene.components[index],
                edited: isShown ? edited?.name : nil,
                mark: palette.isUnicode ? "▏" : "|"
            )
        }
        return scene
    }

    /// Starts editing the selected field, or the first one; a form without fields is submitted at once.
    mutating func beginEditing() -> [Effect] {
        guard let (form, component) = form else {
            message = "there is no form on this page"
            return []
        }
        guard !form.fields.isEmpty else { return send(form, component) }
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
        case .key(.enter): return send(form, component)
        case .key(.tab), .key(.down): return edit(form, component, (row + 1) % form.fields.count)
        case .key(.backTab), .key(.up):
            return edit(form, component, (row + form.fields.count - 1) % form.fields.count)
        case .key(.control("l")): return [.redraw]
        case .key(.control("z")): return [.suspend]
        case .key(let key):
            guard change(field, component, { $0.handle(key, in: field) }) else { return [] }
        case .paste(let text):
            var isWhole = true
            _ = change(field, component) { draft in
                isWhole = draft.paste(text, into: field)
                return true
            }
            if !isWhole { message = "the text was cut: a field takes \(LineEditor.limit) bytes" }
        case .wheel: return []
        case .click:
            endEditing()
            return handle(input)
        }
        mount()
        return []
    }

    /// Changes an entered value and clears its error.
    private mutating func change(_ field: FormField, _ component: Int, _ body: (inout FormDraft) -> Bool) -> Bool {
        let id = id(ofFormIn: component)
        var draft = drafts[id] ?? FormDraft()
        guard body(&draft) else { return false }
        draft.errors[field.name] = nil
        store(draft, id)
        return true
    }

    private mutating func edit(_ form: SceneForm, _ component: Int, _ row: Int) -> [Effect] {
        edited = EditedField(component: id(ofFormIn: component).component, name: form.fields[row].name)
        select(Page.RowIndex(component: component, row: row))
        mount()
        return []
    }

    private mutating func endEditing() {
        edited = nil
        mount()
    }

    /// Requests the form's act, or shows the errors at their fields.
    private mutating func send(_ form: SceneForm, _ component: Int) -> [Effect] {
        let id = id(ofFormIn: component)
        var draft = drafts[id] ?? FormDraft()
        do throws(FormFault) {
            let act = try form.act(draft.texts(of: form.fields))
            draft.errors = [:]
            store(draft, id)
            endEditing()
            if sentForms.count >= Self.sceneLimit { sentForms.removeFirst() }
            sentForms.append((act, id))
            return dispatch(.act(act))
        } catch {
            draft.errors = error.errors
            store(draft, id)
            guard let row = form.fields.firstIndex(where: { error.errors[$0.name] != nil }) else {
                message = error.errors.values.sorted().joined(separator: "; ")
                return []
            }
            message = error.errors[form.fields[row].name] ?? ""
            return edit(form, component, row)
        }
    }

    /// Records the outcome of a form's act: errors appear at their fields, and success resets a form of the application.
    mutating func note(_ outcome: ActOutcome, in id: FormID) {
        if outcome.isFailure {
            drafts[id]?.errors = outcome.fieldErrors
        } else if windows[.main]?.component(id.component)?.form?.isOfApplication ?? false {
            drafts[id] = nil
        }
        mount()
    }

    private mutating func store(_ draft: FormDraft, _ id: FormID) {
        if drafts.count >= Self.sceneLimit, drafts[id] == nil { drafts = [:] }
        drafts[id] = draft
    }
}

/// The identity of a form: the route of the shown scene, and the id of the form's component.
struct FormID: Sendable, Hashable {
    var route: Route
    var component: String
}

/// The field being edited: the id of its form's component, and its name.
struct EditedField: Sendable, Hashable {
    var component: String
    var name: String
}
