// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Draws a form, with a labeled control for each field.
struct CallFormView: Sendable {
    /// The form.
    let form: SceneForm
    /// The id of its component.
    let component: String
    /// The suffix that makes its elements' ids unique in the page; empty for the first form.
    let suffix: String
    /// The page that contains it.
    let address: PageAddress
    /// The values entered earlier, with their error messages.
    var draft = CallDraft()

    /// Draws the form.
    func markup() -> Markup {
        var markup = Markup()
        markup.element(
            "form",
            ("id", "call\(suffix)"),
            ("class", "call"),
            ("method", "post"),
            ("action", PostedForm.call),
            ("novalidate", ""),
            ("data-resets", form.isOfApplication ? "" : nil),
            ("data-ordered", form.isOfApplication ? "" : nil)
        ) { markup in
            markup.void("input", ("type", "hidden"), ("name", "at"), ("value", address.url))
            markup.void("input", ("type", "hidden"), ("name", PostedForm.form), ("value", component))
            for (index, field) in form.fields.enumerated() { add(field, "f\(index)\(suffix)", &markup) }
            markup.element("button", ("class", "primary send"), text: form.button)
        }
        return markup
    }

    /// Whether the values entered earlier belong to this form.
    private var isDrafted: Bool { draft.component == component }

    private func add(_ field: FormField, _ id: String, _ markup: inout Markup) {
        let fault = isDrafted ? draft.faults[field.name] : nil
        let help = [field.help, field.example.isEmpty ? "" : "such as \(field.example)"].filter { !$0.isEmpty }
        markup.element("label", ("for", id)) { markup in
            markup.write(field.label)
            if field.isRequired { markup.element("span", ("class", "s-muted"), text: " (required)") }
        }
        markup.element("div", ("class", "field")) { markup in
            input(field, id, isWrong: fault != nil, &markup)
            markup.element(
                "span",
                ("class", "help"),
                ("id", "\(id)-help"),
                text: help.isEmpty ? field.kind.name : help.joined(separator: "; ")
            )
            markup.element("span", ("class", "fault"), ("id", "\(id)-fault"), ("data-fault", id), text: fault ?? "")
        }
    }

    private func input(_ field: FormField, _ id: String, isWrong: Bool, _ markup: inout Markup) {
        let value = isDrafted ? draft.values[field.name] ?? "" : field.value
        let name = CallDraft.prefix + field.name
        let (required, invalid) = (field.isRequired ? "true" : nil, isWrong ? "true" : nil)
        let description = "\(id)-help \(id)-fault"
        if !field.kind.choices.isEmpty {
            markup.element(
                "select",
                ("id", id),
                ("name", name),
                ("aria-required", required),
                ("aria-invalid", invalid),
                ("aria-describedby", description)
            ) { markup in
                for choice in [""] + field.kind.choices {
                    markup.element(
                        "option",
                        ("value", choice.isEmpty ? nil : choice),
                        ("selected", choice == value && !value.isEmpty ? "" : nil),
                        text: choice
                    )
                }
            }
        } else if field.kind == .json {
            markup.element(
                "textarea",
                ("id", id),
                ("name", name),
                ("rows", "4"),
                ("spellcheck", "false"),
                ("aria-required", required),
                ("aria-invalid", invalid),
                ("aria-describedby", description)
            ) { $0.writeValue(value) }
        } else {
            markup.void(
                "input",
                ("id", id),
                ("name", name),
                ("value", value.isEmpty ? nil : value),
                ("inputmode", field.kind == .number ? "decimal" : nil),
                ("autocomplete", "off"),
                ("spellcheck", "false"),
                ("aria-required", required),
                ("aria-invalid", invalid),
                ("aria-describedby", description)
            )
        }
    }
}
