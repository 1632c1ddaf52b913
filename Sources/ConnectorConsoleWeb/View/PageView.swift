// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// Draws whole pages.
struct PageView: Sendable {
    /// The title of the console, which follows the scene's title in the browser's tab.
    let title: String
    /// Whether the client may act.
    let canAct: Bool
    /// Whether the server has the API, which the page then links to.
    var hasAPI = true

    /// The path prefix of assets and forms, which no route has.
    static let prefix = "/-/"

    /// The page of a scene.
    ///
    /// - Parameters:
    ///   - version: The version of the content, from which live updates continue.
    ///   - message: The result of the last act; nil for none.
    ///   - draft: The values of the scene's form that did not pass validation.
    func page(
        _ content: PageContent,
        version: String,
        message: String? = nil,
        draft: CallDraft = CallDraft()
    ) -> Markup {
        let view = SceneView(content: content, canAct: canAct, draft: draft)
        let isWaiting =
            content.isOpening && content.scene.route.root == Route.gates.root && message == nil
            && content.scene.components.allSatisfy { $0.form == nil }
        return document(
            content.scene.title,
            ("data-live", content.address.url),
            ("data-version", version),
            reloads: isWaiting
        ) { markup in
            header(content, &markup)
            markup.append(Self.navigation(content))
            markup.element("main", ("id", "main"), ("tabindex", "-1")) { markup in
                if content.isSimulated { simulation(&markup) }
                if !isWaiting { moment(content.time, &markup) }
                heading(content, &markup)
                if let message { markup.element("p", ("class", "message"), text: message) }
                if canAct { form(content.address, &markup) }
                markup.element("div", ("id", "scene")) { $0.append(view.body()) }
                commandLine(content.scene.commandLine ?? "", &markup)
            }
            footer(&markup)
        }
    }

    // MARK: Parts

    /// A complete document around the content of its body.
    ///
    /// - Parameter reloads: Whether a browser without scripts loads the page again every two seconds.
    func document(
        _ title: String,
        _ attributes: Markup.Attribute...,
        reloads: Bool = false,
        content: (inout Markup) -> Void
    ) -> Markup {
        var markup = Markup()
        markup.writeDocumentType()
        markup.element("html", ("lang", "en")) { markup in
            markup.element("head") { markup in
                markup.void("meta", ("charset", "utf-8"))
                markup.element("title", text: "\(title) · \(self.title)")
                markup.void("meta", ("name", "viewport"), ("content", "width=device-width, initial-scale=1"))
                markup.void("meta", ("name", "color-scheme"), ("content", "light dark"))
                markup.void("link", ("rel", "stylesheet"), ("href", Self.prefix + "console.css"))
                markup.void("link", ("rel", "icon"), ("href", Self.prefix + "icon.svg"), ("type", "image/svg+xml"))
                markup.element("script", ("src", Self.prefix + "console.js"), ("defer", ""), text: "")
                guard reloads else { return }
                markup.element("noscript") { $0.void("meta", ("http-equiv", "refresh"), ("content", "2")) }
            }
            let live = attributes.first { "\($0.name)" == "data-live" }
            let version = attributes.first { "\($0.name)" == "data-version" }
            markup.element("body", ("data-live", live?.value), ("data-version", version?.value)) { markup in
                markup.element("a", ("class", "skip"), ("href", "#main"), text: "Skip to the content")
                content(&markup)
            }
        }
        return markup
    }

    /// The bar of a page: the brand, and what is beside it.
    func brand(_ markup: inout Markup, beside rest: (inout Markup) -> Void = { _ in }) {
        markup.element("header", ("class", "top")) { markup in
            markup.element("a", ("class", "brand"), ("href", "/")) { markup in
                Self.logo(&markup)
                markup.element("span", text: title)
            }
            rest(&markup)
        }
    }

    private func header(_ content: PageContent, _ markup: inout Markup) {
        brand(&markup) { markup in
            if content.hasHost { markup.append(Self.readiness(content)) }
            markup.element("span", ("class", "live"), ("id", "live"), ("role", "status"), ("hidden", ""), text: "")
            if !canAct { markup.element("span", ("class", "badge"), text: "read only") }
        }
    }

    /// The readiness of the host, and the number of open gates.
    static func readiness(_ content: PageContent) -> Markup {
        var markup = Markup()
        let style = content.isReady ? "good" : "bad"
        markup.element("span", ("id", "readiness"), ("class", "pill p-\(style) readiness")) { markup in
            markup.element(
                "i",
                ("class", "mark m-\(style)"),
                ("aria-hidden", "true"),
                text: content.isReady ? "✓" : "✗"
            )
            let readiness = content.isReady ? "ready" : "not ready"
            markup.write("\(readiness): \(content.gates.open) of \(content.gates.all) open")
        }
        return markup
    }

    private static func logo(_ markup: inout Markup) {
        markup.element(
            "svg",
            ("viewBox", "0 0 24 24"),
            ("width", "24"),
            ("height", "24"),
            ("aria-hidden", "true"),
            ("class", "logo")
        ) { markup in
            markup.element(
                "path",
                ("d", "M3 12h5m8 0h5M8 7v10a4 4 0 0 0 4-4v-2a4 4 0 0 0-4-4Zm8 0v10a4 4 0 0 1-4-4v-2a4 4 0 0 1 4-4Z"),
                text: ""
            )
        }
    }

    /// The links to the sections.
    static func navigation(_ content: PageContent) -> Markup {
        var markup = Markup()
        markup.element("nav", ("id", "tabs"), ("class", "tabs"), ("aria-label", "Sections")) { markup in
            markup.element("ul") { markup in
                for tab in content.tabs {
                    markup.element("li") { markup in
                        markup.element(
                            "a",
                            ("href", Route([tab.root]).description),
                            ("aria-current", tab.root == content.scene.route.root ? "page" : nil),
                            text: tab.title
                        )
                    }
                }
            }
        }
        return markup
    }

    private func heading(_ content: PageContent, _ markup: inout Markup) {
        let scene = content.scene
        if scene.route.parts.count > 1 { breadcrumbs(content, &markup) }
        markup.element("div", ("class", "heading")) { markup in
            markup.element("h1", text: scene.title)
            if canAct {
                markup.element("div", ("class", "acts"), ("id", "scene-acts")) { $0.append(Self.acts(scene)) }
            }
            markup.element(
                "form",
                ("id", "search"),
                ("role", "search"),
                ("method", "get"),
                ("action", scene.route.description),
                ("hidden", content.isSearchable ? nil : "")
            ) { markup in
                markup.element("label", ("for", "q"), ("class", "hidden"), text: "Search in \(scene.title)")
                markup.void(
                    "input",
                    ("id", "q"),
                    ("name", "q"),
                    ("type", "search"),
                    ("placeholder", "Search"),
                    ("value", content.address.search.isEmpty ? nil : content.address.search)
                )
                markup.element("button", text: "Search")
            }
        }
    }

    /// The buttons of a scene's acts.
    static func acts(_ scene: Scene) -> Markup {
        SceneView.buttons(scene.acts)
    }

    private func breadcrumbs(_ content: PageContent, _ markup: inout Markup) {
        markup.element("nav", ("class", "crumbs"), ("aria-label", "Breadcrumb")) { markup in
            markup.element("ol") { markup in
                for (name, link) in crumbs(content) {
                    markup.element("li") { $0.element("a", ("href", link.description), text: name) }
                }
            }
        }
    }

    private func crumbs(_ content: PageContent) -> [(String, Route)] {
        let route = content.scene.route
        let tab = content.tabs.first { $0.root == route.root }
        var crumbs = [(tab?.title ?? route.root, Route([route.root]))]
        guard route.root == Route.gates.root else { return crumbs }
        let names = route.parts[1].split(separator: "/").map(String.init)
        let above = route.parts.count > 2 ? names.count : names.count - 1
        for count in 0..<max(0, above) {
            crumbs.append((names[count], .gate(names[...count].joined(separator: "/"))))
        }
        return crumbs
    }

    /// The moment that a page shows, in browsers without scripts.
    private func moment(_ time: Timestamp, _ markup: inout Markup) {
        markup.element("noscript") { markup in
            markup.element("p", ("class", "banner")) { markup in
                markup.write("Without JavaScript this page does not update. It shows \(time).")
            }
        }
    }

    private func simulation(_ markup: inout Markup) {
        markup.element("p", ("class", "banner")) { markup in
            markup.element("b", text: "The vendors are simulated.")
            markup.write(" No request has reached a real vendor, and the outbox is in memory.")
        }
    }

    private func form(_ address: PageAddress, _ markup: inout Markup) {
        markup.element(
            "form",
            ("id", SceneView.actForm),
            ("method", "post"),
            ("action", Self.prefix + "act")
        ) { markup in
            markup.void("input", ("type", "hidden"), ("name", "at"), ("value", address.url))
        }
    }

    /// The equivalent command line, with a button that the script makes visible; hidden by the style sheet while it is empty.
    func commandLine(_ line: String, _ markup: inout Markup) {
        markup.element("div", ("class", "command")) { markup in
            markup.element("span", text: "On the command line")
            markup.element("code", ("id", "command"), text: line)
            markup.element("button", ("type", "button"), ("data-copy", "command"), ("hidden", ""), text: "Copy")
        }
    }

    private func footer(_ markup: inout Markup) {
        markup.element("footer") { markup in
            markup.element("span", text: "connector-host \(ConnectorHost.version)")
            if hasAPI {
                markup.element("a", ("href", "/metrics"), text: "Metrics")
                markup.element("a", ("href", "/api/v1/openapi.json"), text: "API")
            }
            markup.element("form", ("method", "post"), ("action", Self.prefix + "leave")) { markup in
                markup.element("button", text: "Leave")
            }
        }
        markup.element(
            "div",
            ("id", "toast"),
            ("class", "toast"),
            ("role", "status"),
            ("aria-live", "polite"),
            text: ""
        )
    }
}

extension PageContent {
    /// Whether the scene has a list long enough to search.
    var isSearchable: Bool {
        !address.search.isEmpty
            || zip(scene.components, totals).contains { component, total in
                total > 5 && [.tree, .table, .log, .text, .timeline].contains(component.shape)
            }
    }
}
