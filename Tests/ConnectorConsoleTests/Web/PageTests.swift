// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHost

/// Pages as values.
@Suite
struct PageTests {
    private static let routes: [Route] = [
        .gates, .gate("analytics/segment"), .gate("analytics/posthog"), .operation("track", of: "analytics/segment"),
        .outbox, .event("m3"), .dead, .events, .plugins, .plugin("segment"), .configuration, .plan, Route(["nowhere"]),
    ]

    /// The page of a route.
    private static func page(_ route: Route, canAct: Bool = true) -> String {
        page(PageContent(PageAddress(route), .standard, Mock.snapshot(route)), canAct: canAct)
    }

    private static func page(_ content: PageContent, canAct: Bool = true) -> String {
        let view = PageView(title: "connector-host", canAct: canAct)
        return view.page(content, version: "1", message: nil).text
    }

    @Test(arguments: routes) func `every page has landmarks, a heading, and a link that skips the navigation`(
        _ route: Route
    ) {
        let page = Self.page(route)
        for part in [
            "<!doctype html><html lang=\"en\">", "<a class=\"skip\" href=\"#main\">", "<header ", "<nav ",
            "<main id=\"main\"",
            "<h1>", "<footer>", "role=\"status\" aria-live=\"polite\"", "id=\"live\" role=\"status\"",
        ] { #expect(page.contains(part), "\(part)") }
        #expect(Self.isBalanced(page))
    }

    @Test(arguments: routes) func `a page needs nothing that the content security policy forbids`(_ route: Route) {
        let page = Self.page(route)
        #expect(!page.contains(" style=") && !page.contains("<style"))
        #expect(page.firstMatch(of: #/<[^>]* on[a-z]+=/#) == nil)
        #expect(page.components(of: "<script ") == 1 && page.contains("<script src=\"/-/console.js\" defer></script>"))
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("javascript:"))
    }

    @Test func `markup in any text is shown as text`() throws {
        let evil = "</title><script>alert(1)</script>\" onload='x' &amp;\u{202E}\u{1B}"
        var components: [Component] = []
        for shape in [
            Component.Shape.tree, .table, .details, .timeline, .log, .form, .notice, .chart,
        ] {
            var component = Component(id: evil, kind: ComponentKind(evil), shape: shape, title: evil)
            component.columns = [.init(evil), .init(evil, isNumber: true)]
            var row = Row(evil, [StyledText(evil, StyleName(evil)), StyledText(evil)], link: Route([evil]))
            row.acts = [
                ConsoleAct(.drop, .letter(evil, connector: evil), title: evil, question: evil, commandLine: evil)
            ]
            component.rows = [row]
            component.series = [.init(evil, StyleName(evil), [1, .nan, .infinity, -1])]
            component.unit = evil
            components.append(component)
        }
        var registry = ConsoleRegistry()
        registry.register(
            SceneDescriptor("evil", title: evil) { [components] context in
                var scene = Scene(context.route, evil, components)
                scene.acts = [ConsoleAct(.close, .gate(evil), title: evil, question: evil)]
                scene.commandLine = evil
                return scene
            }
        )
        let address = PageAddress(Route(["evil", evil]), search: "")
        let content = PageContent(address, registry, Mock.snapshot())
        let view = PageView(title: evil, canAct: true)
        let act = try #require(content.scene.acts.first)
        let posted = QueryItems(form: "at=%2Fgates&act=%3Cscript%3E&f.%22%3E%3Cscript%3E=%3Cscript%3E")
        let form = try #require(PostedForm(PostedForm.act, posted))
        for page in [
            view.page(content, version: evil, message: evil).text, view.confirmation(of: act, form).text,
            view.notice(evil, evil).text,
        ] {
            #expect(page.components(of: "<script") == 1, "only our own")
            #expect(!page.contains("alert(1)<") && !page.contains("onload='"))
            #expect(!page.contains("\u{202E}") && !page.contains("\u{1B}"))
            #expect(page.contains("&lt;/title&gt;&lt;script&gt;alert(1)"))
            #expect(Self.isBalanced(page))
        }
    }

    @Test func `a form labels its fields, and shows each error at its field`() {
        let route = Route.operation("track", of: "analytics/segment")
        let content = PageContent(PageAddress(route), .standard, Mock.snapshot(route))
        let view = PageView(title: "", canAct: true)
        let name = content.scene.components.compactMap(\.form).first?.fields.first?.name ?? ""
        let evil = "\"><script>alert(1)</script>"
        let page = view.page(
            content,
            version: "",
            draft: CallDraft(component: "form", values: [name: evil], faults: [name: evil])
        ).text
        #expect(page.contains("<label for=\"f0\">") && page.contains("name=\"f.\(name)\""))
        #expect(page.contains("aria-invalid=\"true\" aria-describedby=\"f0-help f0-fault\""))
        #expect(page.components(of: "<script") == 1 && Self.isBalanced(page))
    }

    @Test(arguments: [
        ("a\r\nb\u{200E}c", "a&#xD;\nb&#x200E;c"), ("\u{61C}\u{202E}\u{FEFF}", "&#x61C;&#x202E;&#xFEFF;"),
        ("<\"\u{1B}\u{85}", "&lt;&quot;\\u{1B}\\u{85}"), ("a\u{2028}b\u{2029}", "a&#x2028;b&#x2029;"),
        ("\u{E0041}", "&#xE0041;"), ("a\u{FE0F}\u{3164}", "a&#xFE0F;&#x3164;"), ("\u{34F}", "&#x34F;"),
        ("\u{1160}", "&#x1160;"),
        ("\u{1D173}", "&#x1D173;"), ("❤\u{FE0F}👩\u{200D}💻", "❤\u{FE0F}👩\u{200D}💻"),
    ])
    func `a form field's value is escaped so that it comes back unchanged`(value: String, escaped: String) {
        var markup = Markup()
        markup.void("input", ("value", value))
        markup.element("textarea") { $0.writeValue(value) }
        #expect(markup.text == "<input value=\"\(escaped)\"><textarea>\(escaped)</textarea>")
    }

    @Test func `any style name becomes a valid class name`() {
        #expect(Escaping.className("good") == "good")
        #expect(Escaping.className("a b\"{}") == "a_20b_22_7b_7d")
        let css = StyleSheet([StyleName("x{}"): Style(colour: .red), "y": Style(parent: "x{}", isBold: true)]).css
        #expect(css.contains(".s-x_7b_7d{color:var(--red)}"))
        #expect(css.contains(".s-y{color:var(--red);font-weight:600}"))
        let reversed = StyleSheet([
            "a": Style(isReversed: true), "b": Style(parent: "a", colour: .red, background: .blue),
            "c": Style(parent: "b", isReversed: false), "d": Style(isFaint: true, isReversed: true),
        ]).css
        for rule in [
            ".s-a{color:var(--card);background:var(--ink)}", ".s-b{color:var(--blue);background:var(--red)}",
            ".s-c{color:var(--red);background:var(--blue)}", ".s-d{color:var(--card);background:var(--grey)}",
        ] {
            #expect(reversed.contains(rule), "\(reversed)")
        }
    }

    @Test func `states are words, colours and shapes`() {
        let page = Self.page(.gates)
        #expect(page.contains("<i class=\"mark m-bad\" aria-hidden=\"true\">✗</i>"))
        #expect(page.contains("<span class=\"pill p-bad\">failed</span>"))
        #expect(page.contains("<caption class=\"hidden\">Gates</caption>"))
        #expect(page.contains("<th scope=\"row\" role=\"rowheader\">"))
    }

    @Test func `a reader who may not act sees no button of an act`() {
        for route in Self.routes {
            #expect(!Self.page(route, canAct: false).contains("name=\"act\""))
        }
        #expect(Self.page(.gate("analytics/segment")).contains("value=\"close gate analytics/segment\""))
        #expect(Self.page(.dead).contains("value=\"replay letters "))
    }

    @Test func `a thousand gates are split into pages, and a search finds one of them`() {
        var snapshot = Mock.snapshot(.gates)
        snapshot.report.gates = (0..<1000).map { Mock.gate("gate-\($0)") }
        let first = PageContent(PageAddress(.gates), .standard, snapshot)
        let page = Self.page(first)
        #expect(page.utf8.count <= 100_000, "\(page.utf8.count) bytes")
        #expect(page.contains("page 1 of 10, 1000 rows") && page.contains("href=\"/gates?page=2\""))
        let last = PageContent(PageAddress(.gates, page: 99), .standard, snapshot)
        #expect(last.address.page == 10 && last.scene.components[1].rows.last?.id == "gate-999")
        let found = PageContent(PageAddress(.gates, search: "GATE-77"), .standard, snapshot)
        #expect(found.scene.components[1].rows.map(\.id).contains("gate-777") && found.pages == 1)
    }

    @Test func `an answer and a payload are read from their beginning, on the first page`() throws {
        let route = Route.operation("track", of: "analytics/segment")
        var snapshot = Mock.snapshot(route)
        var call = ConsoleCall(
            try SceneForm.of("analytics/1", "track").act(["event.event": "Seen"]),
            at: Mock.now
        )
        call.end(.array((0..<300 as Range<Int64>).map { JSONValue.integer($0) }), after: .zero)
        snapshot.calls[route] = call
        let content = PageContent(PageAddress(route), .standard, snapshot)
        let answer = try #require(content.scene.component("answer"))
        #expect(answer.rows.first?.cells.first?.text == "[" && answer.rows.count == PageContent.rowLimit)
        let payload = Mock.scene(.event("m3")).component("payload")
        #expect(payload?.shape == .text)
    }

    @Test func `a page that begins below a composite begins with the composite`() {
        var snapshot = Mock.snapshot(.gates)
        snapshot.report.gates =
            [Mock.gate("a", policy: "all"), Mock.gate("a/b", policy: "all")]
            + (0..<150).map { Mock.gate("a/b/gate-\($0)") } + [Mock.gate("c")]
        func ids(_ page: Int, search: String = "") -> [String] {
            let content = PageContent(PageAddress(.gates, search: search, page: page), .standard, snapshot)
            return content.scene.components[1].rows.map(\.id)
        }
        #expect(ids(1).count == PageContent.rowLimit && ids(1).last == "a/b/gate-97")
        #expect(ids(2).prefix(3) == ["a", "a/b", "a/b/gate-98"] && ids(2).last == "c")
        #expect(ids(2, search: "gate-").prefix(3) == ["a", "a/b", "a/b/gate-98"])
        snapshot.report.gates = (0..<150).map { Mock.gate("gate-\($0)") }
        #expect(ids(2).first == "gate-100" && ids(2).count == 50)
    }

    @Test func `only the list of gates leaves its summary to the bar`() throws {
        #expect(Self.page(.gates).contains("i-summary\" id=\"c0\" hidden"))
        var registry = ConsoleRegistry.standard
        registry.register(
            SceneDescriptor("own", title: "Own") { context in
                Scene(context.route, "Own", [context.component("summary", NoticeModel("all is well"))])
            }
        )
        let own = Self.page(PageContent(PageAddress(Route(["own"])), registry, Mock.snapshot()))
        #expect(own.contains("i-summary\" id=\"c0\" aria-label"))
        let css = String(decoding: PackageResources.console_css, as: UTF8.self)
        #expect(!css.contains(".i-"), "the style sheet knows no component of a scene")
    }

    @Test func `without a script, a page says which moment it shows, unless it is loaded again by itself`() {
        #expect(Self.page(.outbox).contains("this page does not update. It shows \(Mock.now).</p></noscript>"))
        var snapshot = Mock.snapshot(.gates)
        snapshot.report.gates[1].state = .opening
        let opening = Self.page(PageContent(PageAddress(.gates), .standard, snapshot))
        #expect(opening.contains("http-equiv=\"refresh\"") && !opening.contains("does not update"))
    }

    @Test(arguments: [true, false]) func `every page has a button to leave`(canAct: Bool) {
        let page = Self.page(.gates, canAct: canAct)
        #expect(page.contains("<form method=\"post\" action=\"/-/leave\"><button>Leave</button></form>"))
    }

    @Test func `a page of an event that the outbox does not have is not found`() {
        func isFound(_ route: Route) -> Bool {
            PageContent(PageAddress(route), .standard, Mock.snapshot(route)).isFound
        }
        #expect(isFound(.event("m3")) && !isFound(.event("m9")) && isFound(.dead.searched(by: "x")))
    }

    @Test(arguments: ["/gates", "/gates?q=a%26b&page=3", "/gates/analytics/segment?q=%C3%A4", "/dead?page=2"])
    func `addresses are URLs`(_ text: String) throws {
        #expect(try #require(PageAddress(text)).url == text)
    }

    // MARK: Changes

    @Test func `an update replaces only the parts and rows of a page that changed`() throws {
        let old = PageContent(PageAddress(.gates), .standard, Mock.snapshot(.gates))
        var snapshot = Mock.snapshot(.gates)
        snapshot.report.gates[1].state = .failed
        snapshot.report.gates[1].evidence = []
        let new = PageContent(PageAddress(.gates), .standard, snapshot)
        let difference = PageDifference(from: old, to: new, canAct: true)
        let names = difference.operations.map { $0[0]?.string }
        // The readiness, the summary, and the row whose mark changed.
        #expect(names == ["replace", "row", "row"])
        let none = PageDifference(from: new, to: new, canAct: true)
        #expect(none.operations.isEmpty)
    }

    @Test func `a column that is no longer empty comes into view, and the table stays`() throws {
        let old = PageContent(PageAddress(.gates), .standard, Mock.snapshot(.gates))
        #expect(SceneView.hiddenColumns(of: old.scene.components[1]).split(separator: " ").contains("e3"))
        var snapshot = Mock.snapshot(.gates)
        snapshot.history.note(snapshot.report, at: snapshot.time)
        snapshot.report.gates[1].state = .failed
        snapshot.history.note(snapshot.report, at: snapshot.time)
        let new = PageContent(PageAddress(.gates), .standard, snapshot)
        let operations = PageDifference(from: old, to: new, canAct: true).operations
        let columns = try #require(operations.first { $0[0] == "columns" })
        #expect(columns[1] == 1 && columns[2]?.string?.split(separator: " ").contains("e3") == false)
        #expect(!operations.contains { $0[0] == "replace" && $0[1] == "c1" })
        let difference = PageDifference(from: new, to: new, canAct: true)
        #expect(difference.operations.isEmpty)
    }

    @Test func `a table whose title counts its rows stays when one of them goes`() {
        var snapshot = Mock.snapshot(.dead)
        snapshot.records[.dead] = RecordPage([Mock.record("m3", .dead), Mock.record("m4", .dead)])
        let two = PageContent(PageAddress(.dead), .standard, snapshot)
        snapshot.records[.dead] = RecordPage([Mock.record("m4", .dead)])
        let one = PageContent(PageAddress(.dead), .standard, snapshot)
        let operations = PageDifference(from: two, to: one, canAct: true).operations
        #expect(operations.contains { $0 == ["name", 0, "1 dead letter, oldest first"] })
        #expect(operations.contains { $0 == ["remove", 0, 0, 1] })
        #expect(!operations.contains { $0[0] == "replace" && $0[1] == "c0" })
    }

    @Test func `the heading changes with the scene, and a search comes with a list that becomes long`() {
        let address = PageAddress(.gate("analytics/segment"))
        var snapshot = Mock.snapshot(address.route)
        let gate = PageContent(address, .standard, snapshot)
        snapshot.report.gates = []
        let none = PageContent(address, .standard, snapshot)
        let title = JSONValue.string(none.scene.title)
        #expect(gate.scene.title != none.scene.title)
        #expect(PageDifference(from: gate, to: none, canAct: true).operations.contains { $0 == ["title", title] })
        snapshot.report.gates = (0..<3).map { Mock.gate("gate-\($0)") }
        let short = PageContent(PageAddress(.gates), .standard, snapshot)
        snapshot.report.gates = (0..<6).map { Mock.gate("gate-\($0)") }
        let long = PageContent(PageAddress(.gates), .standard, snapshot)
        #expect(PageDifference(from: short, to: long, canAct: true).operations.contains { $0 == ["show", "search"] })
        let shorter = PageDifference(from: long, to: short, canAct: true).operations
        #expect(!shorter.contains { $0[1] == "search" }, "someone may be typing")
        #expect(Self.page(short).contains("method=\"get\" action=\"/gates\" hidden>"))
    }

    @Test func `a command line leaves the page with the gate that it was for, and comes back with it`() {
        let address = PageAddress(.gate("analytics/segment"))
        var snapshot = Mock.snapshot(address.route)
        let gate = PageContent(address, .standard, snapshot)
        snapshot.report.gates = []
        let none = PageContent(address, .standard, snapshot)
        #expect(none.scene.commandLine == nil)
        #expect(Self.page(none).contains("<code id=\"command\"></code>"))
        let gone = PageDifference(from: gate, to: none, canAct: true).operations
        #expect(gone.contains { $0 == ["text", "command", ""] })
        let back = PageDifference(from: none, to: gate, canAct: true).operations
        #expect(back.contains { $0 == ["text", "command", "connector-host status"] })
        var page = LivePage(canAct: true)
        let isOther = page.update(none, as: 2)
        let whole = page.frame(from: 1) { "v\($0)" }
        #expect(isOther && String(decoding: whole ?? [], as: UTF8.self).contains("[\"text\",\"command\",\"\"]"))
    }

    @Test func `a slow browser gets one update from its version to the newest, or the whole page`() throws {
        var page = LivePage(canAct: true)
        var snapshot = Mock.snapshot(.gates)
        for number in 0..<20 {
            snapshot.report.gates[1].state = number.isMultiple(of: 2) ? .failed : .open
            let isOther = page.update(PageContent(PageAddress(.gates), .standard, snapshot), as: number + 1)
            #expect(isOther)
        }
        let isOther = page.update(PageContent(PageAddress(.gates), .standard, snapshot), as: 21)
        #expect(!isOther, "nothing is new")
        let name: (Int) -> String = { "v\($0)" }
        let (known, old) = (page.frame(from: 18, name: name), page.frame(from: 1, name: name))
        let (recent, forgotten) = (try #require(known), try #require(old))
        #expect(String(decoding: recent, as: UTF8.self).hasPrefix("id: v20\ndata: ["))
        #expect(
            recent.count < forgotten.count && String(decoding: forgotten, as: UTF8.self).contains("\"fill\",\"scene\"")
        )
        for number in 1000..<2000 { #expect(page.frame(from: number, name: name) == forgotten) }
        #expect(page.frames.count <= 7, "whatever versions a browser claims to have")
        let none = page.frame(from: 20, name: name)
        #expect(none == nil)
        #expect(forgotten.filter { $0 == UInt8(ascii: "\n") }.count == 3, "one event, on one line")
    }

    /// Whether every element is closed, properly nested.
    private static func isBalanced(_ page: String) -> Bool {
        let void: Set<Substring> = ["meta", "link", "input"]
        var open: [Substring] = []
        for match in page.matches(of: #/<(/?)([a-z][a-z0-9]*)(?:\s[^>]*)?>/#) {
            if match.1 == "/" {
                guard open.popLast() == match.2 else { return false }
            } else if !void.contains(match.2) {
                open.append(match.2)
            }
        }
        return open.isEmpty
    }
}

extension String {
    /// How often a text occurs in this one.
    fileprivate func components(of text: String) -> Int {
        ranges(of: text).count
    }
}
