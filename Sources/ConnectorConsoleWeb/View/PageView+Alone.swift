// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// Pages without a scene.
extension PageView {
    /// The page that asks to confirm an act that loses data.
    ///
    /// - Parameter form: The posted form; confirming posts it again.
    func confirmation(of act: ConsoleAct, _ form: PostedForm) -> Markup {
        document("Confirm") { markup in
            brand(&markup)
            markup.element("main", ("id", "main"), ("tabindex", "-1"), ("class", "alone")) { markup in
                markup.element("h1", text: act.title)
                markup.element("p", text: act.question ?? "")
                markup.element("form", ("method", "post"), ("action", form.target)) { markup in
                    for field in form.fields.items where field.name != PostedForm.confirmed {
                        markup.void("input", ("type", "hidden"), ("name", field.name), ("value", field.value))
                    }
                    markup.element(
                        "button",
                        ("name", PostedForm.confirmed),
                        ("value", "yes"),
                        ("class", "danger"),
                        text: "Yes, \(act.verb.rawValue)"
                    )
                    markup.write(" ")
                    markup.element("a", ("href", form.address.url), ("class", "button"), text: "No, go back")
                }
                if let line = act.commandLine { commandLine(line, &markup) }
            }
        }
    }

    /// A page that opens another page of this server.
    func forwarding(to url: String) -> Markup {
        var markup = Markup()
        markup.writeDocumentType()
        markup.element("html", ("lang", "en")) { markup in
            markup.element("head") { markup in
                markup.void("meta", ("charset", "utf-8"))
                markup.element("title", text: title)
                markup.void("meta", ("http-equiv", "refresh"), ("content", "0;url=\(url)"))
            }
            markup.element("body") { $0.element("a", ("href", url), text: "Continue") }
        }
        return markup
    }

    /// A page with a message.
    ///
    /// - Parameter asksForToken: Whether the page has a login form.
    func notice(_ title: String, _ sentence: String, asksForToken: Bool = false) -> Markup {
        document(title) { markup in
            brand(&markup)
            markup.element("main", ("id", "main"), ("tabindex", "-1"), ("class", "alone")) { markup in
                markup.element("h1", text: title)
                markup.element("p", text: sentence)
                guard asksForToken else { return }
                markup.element("form", ("method", "post"), ("action", Self.prefix + "enter")) { markup in
                    markup.element("label", ("for", "token"), text: "Token")
                    markup.void(
                        "input",
                        ("id", "token"),
                        ("name", "token"),
                        ("type", "password"),
                        ("required", ""),
                        ("autocomplete", "current-password"),
                        ("spellcheck", "false")
                    )
                    markup.element("button", text: "Enter")
                }
            }
        }
    }
}
