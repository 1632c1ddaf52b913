// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// Draws the scene of a page, with each component as HTML elements of the same meaning.
///
/// Components, rows and cells are addressed by their indices, which keeps changes small.
struct SceneView: Sendable {
    /// The content of the page.
    let content: PageContent
    /// Whether the client may act.
    let canAct: Bool
    /// The values of the scene's form that did not pass validation.
    var draft = CallDraft()

    /// The id of the form that the buttons of acts belong to.
    static let actForm = "acts"

    /// Draws the scene below its heading.
    func body() -> Markup {
        var markup = Markup()
        for index in content.scene.components.indices { markup.append(component(index)) }
        if content.pages > 1 { markup.append(pager()) }
        return markup
    }

    // MARK: Components

    /// Draws a component with all its rows.
    func component(_ index: Int) -> Markup {
        let component = content.scene.components[index]
        var markup = Markup()
        let heading = component.title.isEmpty ? nil : "h\(index)"
        markup.element(
            "section",
            (
                "class",
                "card c-\(component.shape.name) k-\(Escaping.className(component.kind.name)) "
                    + "i-\(Escaping.className(component.id))"
            ),
            ("id", "c\(index)"),
            ("hidden", isInBar(component) ? "" : nil),
            ("aria-labelledby", heading),
            ("aria-label", heading == nil ? content.scene.title : nil)
        ) { markup in
            if let heading { markup.element("h2", ("id", heading), text: component.title) }
            Self.state(component.state, &markup)
            guard component.state == .loaded || component.hasContents else { return }
            switch component.shape {
            case .tree, .table: table(component, index, &markup)
            case .chart: markup.append(ChartView(component).figure())
            case .form where component.form != nil && canAct:
                guard let form = component.form else { break }
                let isFirst = content.scene.components.firstIndex { $0.form != nil } == index
                let view = CallFormView(
                    form: form,
                    component: component.id,
                    suffix: isFirst ? "" : "-\(index)",
                    address: content.address,
                    draft: draft
                )
                markup.append(view.markup())
            case .details, .form: list("dl", component, index, &markup)
            case .timeline, .log, .text: list("ol", component, index, &markup)
            case .buttons where canAct: markup.append(Self.buttons(component.rows.flatMap(\.acts)))
            case .tabs: tabs(component, &markup)
            default: list("div", component, index, &markup)
            }
        }
        return markup
    }

    /// Whether the bar of every page already says what a component says.
    private func isInBar(_ component: Component) -> Bool {
        content.hasHost && content.scene.route == .gates && component.id == "summary"
    }

    private func table(_ component: Component, _ index: Int, _ markup: inout Markup) {
        let name = component.title.isEmpty ? content.scene.title : component.title
        markup.element(
            "div",
            ("class", "scroll"),
            ("role", "region"),
            ("tabindex", "0"),
            ("aria-label", "\(name), table")
        ) { markup in
            let hidden = Self.hiddenColumns(of: component)
            markup.element("table", ("role", "table"), ("class", hidden.isEmpty ? nil : hidden)) { markup in
                markup.element("caption", ("class", "hidden"), text: name)
                if !component.columns.isEmpty {
                    markup.element("thead", ("role", "rowgroup")) { $0.append(headings(component)) }
                }
                markup.element("tbody", ("role", "rowgroup"), ("data-rows", "")) { markup in
                    for row in component.rows.indices { markup.append(self.row(index, row)) }
                }
            }
        }
        // Visible only if there are no rows.
        markup.element("p", ("class", "empty"), text: "no entries")
    }

    /// The classes that hide empty columns of a table, among the first twelve.
    static func hiddenColumns(of component: Component) -> String {
        guard !component.rows.isEmpty else { return "" }
        let hidden = component.columns.indices.prefix(12).filter { column in
            component.rows.allSatisfy { !$0.cells.indices.contains(column) || $0.cells[column].isEmpty }
        }
        return hidden.map { "e\($0 + 1)" }.joined(separator: " ")
    }

    private func headings(_ component: Component) -> Markup {
        var markup = Markup()
        markup.element("tr", ("role", "row")) { markup in
            for column in component.columns {
                markup.element(
                    "th",
                    ("scope", "col"),
                    ("role", "columnheader"),
                    ("class", column.isNumber ? "n" : nil),
                    text: column.title
                )
            }
            if hasActs(component) {
                markup.element("th", ("scope", "col"), ("role", "columnheader")) { markup in
                    markup.element("span", ("class", "hidden"), text: "actions")
                }
            }
        }
        return markup
    }

    private func list(_ name: StaticString, _ component: Component, _ index: Int, _ markup: inout Markup) {
        let isLog = component.shape == .log
        markup.element(
            name,
            ("data-rows", ""),
            ("role", isLog ? "log" : nil),
            ("aria-live", isLog ? "off" : nil),
            ("tabindex", isLog ? "0" : nil),
            ("aria-label", isLog ? (component.title.isEmpty ? content.scene.title : component.title) : nil)
        ) { markup in
            for row in component.rows.indices { markup.append(self.row(index, row)) }
        }
    }

    // MARK: Rows

    /// Draws a row of a component.
    func row(_ component: Int, _ index: Int) -> Markup {
        let component = content.scene.components[component]
        let row = component.rows[index]
        var markup = Markup()
        switch component.shape {
        case .tree, .table:
            let depth = component.shape == .tree ? " d\(min(row.depth, 12))" : ""
            markup.element("tr", ("role", "row"), ("class", "r\(depth)\(Self.severity(of: row))")) { markup in
                for cell in row.cells.indices { markup.append(self.cell(component, row, cell)) }
                if hasActs(component) { markup.append(acts(of: row, in: component)) }
            }
        case .details, .form:
            markup.element("div") { markup in
                markup.element("dt") { Self.spans(row.cells.first ?? "", &$0) }
                for cell in row.cells.dropFirst() {
                    markup.element("dd") { markup in Self.linked(row.link, cell, &markup) }
                }
            }
        case .timeline, .log, .text:
            // A list item loses its implicit role if its list has the role `log`.
            markup.element("li", ("role", component.shape == .log ? "listitem" : nil)) { markup in
                for (index, cell) in row.cells.enumerated() {
                    markup.element("span", ("class", "cell\(index)")) { markup in
                        Self.linked(index == row.cells.count - 1 ? row.link : nil, cell, &markup)
                    }
                }
            }
        default:
            markup.element("p") { markup in
                for cell in row.cells { Self.linked(row.link, cell, &markup) }
            }
        }
        return markup
    }

    /// Draws a cell of a table.
    func cell(_ component: Component, _ row: Row, _ index: Int) -> Markup {
        var markup = Markup()
        let isNumber = component.columns.indices.contains(index) && component.columns[index].isNumber
        if index == 0 {
            markup.element("th", ("scope", "row"), ("role", "rowheader")) { markup in
                Self.linked(row.link, row.cells[0], &markup)
            }
        } else {
            let pill = Self.pill(row.cells[index])
            let label = component.columns.indices.contains(index) ? component.columns[index].title : ""
            markup.element(
                "td",
                ("role", "cell"),
                ("class", isNumber ? "n" : nil),
                ("data-label", row.cells[index].isEmpty || label.isEmpty ? nil : label)
            ) { markup in
                guard let pill else { return Self.spans(row.cells[index], &markup) }
                markup.element("span", ("class", "pill p-\(pill)"), text: row.cells[index].text)
            }
        }
        return markup
    }

    private func acts(of row: Row, in component: Component) -> Markup {
        var markup = Markup()
        // A tree has many rows, so acts that lose data are offered only on the linked page.
        let acts = component.shape == .tree ? row.acts.filter { $0.question == nil } : row.acts
        markup.element("td", ("role", "cell"), ("class", "acts")) { markup in
            markup.append(Self.buttons(acts))
        }
        return markup
    }

    private func hasActs(_ component: Component) -> Bool { canAct && component.hasActs }

    // MARK: Texts

    static func linked(_ link: Route?, _ text: StyledText, _ markup: inout Markup) {
        guard let link, !text.isEmpty else { return spans(text, &markup) }
        // The mark of a state precedes the link; it is not part of the name.
        let marks = text.spans.prefix { mark($0) != nil }
        for span in marks { Self.span(span, &markup) }
        markup.element("a", ("href", link.description)) { markup in
            for span in text.spans.dropFirst(marks.count) { Self.span(span, &markup) }
        }
    }

    /// Draws the spans of a text.
    static func spans(_ text: StyledText, _ markup: inout Markup) {
        for span in text.spans { Self.span(span, &markup) }
    }

    private static func span(_ span: StyledText.Span, _ markup: inout Markup) {
        if let mark = mark(span) {
            markup.element(
                "i",
                ("class", "mark m-\(Escaping.className(span.style.name))"),
                ("aria-hidden", "true"),
                text: mark
            )
        } else if span.style == .text {
            markup.write(span.text)
        } else {
            markup.element("span", ("class", "s-\(Escaping.className(span.style.name))"), text: span.text)
        }
    }

    /// The mark of a state, which repeats the word beside it; nil if the span is not a mark.
    private static func mark(_ span: StyledText.Span) -> String? {
        switch span.text {
        case "✓ ", "✗ ", "! ", "· ": String(span.text.prefix(1))
        default: nil
        }
    }

    /// The style of a short cell with a state or a count; nil for any other cell.
    private static func pill(_ cell: StyledText) -> String? {
        guard cell.spans.count == 1, cell.spans[0].text.utf8.count <= 20 else { return nil }
        return [StyleName.good, .warning, .bad].first { $0 == cell.spans[0].style }?.name
    }

    private static func severity(of row: Row) -> String {
        guard let style = row.cells.first?.spans.first, mark(style) != nil else { return "" }
        return [StyleName.warning, .bad].contains(style.style) ? " r-\(style.style.name)" : ""
    }

    // MARK: Pages

    /// Draws the links to the other pages.
    func pager() -> Markup {
        var markup = Markup()
        let address = content.address
        func link(_ page: Int, _ title: String, _ relation: String, _ markup: inout Markup) {
            guard (1...content.pages).contains(page) else { return }
            var other = address
            other.page = page
            markup.element("a", ("href", other.url), ("rel", relation), text: title)
        }
        markup.element("nav", ("class", "pager"), ("id", "pager"), ("aria-label", "Pages")) { markup in
            link(address.page - 1, "← Previous", "prev", &markup)
            markup.element("span", text: "page \(address.page) of \(content.pages), \(content.totals.max() ?? 0) rows")
            link(address.page + 1, "Next →", "next", &markup)
        }
        return markup
    }
}

extension Component {
    /// Whether any of its rows has acts.
    var hasActs: Bool { rows.contains { !$0.acts.isEmpty } }

    /// Whether there is something to draw.
    var hasContents: Bool { !rows.isEmpty || !series.isEmpty || form != nil }
}
