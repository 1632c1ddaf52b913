// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// `connector-host console`, in the terminals of tmux.
@Suite(.timeLimit(.minutes(2))) struct ConsoleCommandTests {
    @Test func `without a terminal the console says so, and exits with 64`() async throws {
        var program = Program(directory: FixturePlugins.root)
        let piped = try await program.run("console", "--simulate")
        #expect(piped.status == 64 && piped.output.isEmpty)
        #expect(piped.error.contains("the console needs a terminal"))
        program.isOnTerminal = true
        #expect(try await program.run("console", "--simulate").status == 64, "standard input is not a terminal")
    }

    @Test(arguments: [nil, "dumb"])
    func `on a terminal that cannot move its cursor the console says so, before it reads the file`(
        _ kind: String?
    ) async throws {
        // There is no configuration in this directory, which would be status 2.
        var program = Program(directory: "/")
        program.isOnTerminal = true
        // One end of a new pseudo-terminal, and so a terminal, too.
        program.input = "/dev/ptmx"
        program.environment["TERM"] = kind
        let result = try await program.run("console")
        #expect(result.status == 64)
        #expect(result.error.contains("the terminal cannot move its cursor: TERM is \"\(kind ?? "")\""), "\(result)")
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"), arguments: [(80, 24), (200, 60)])
    func `tabs and keys lead where they say`(_ size: (width: Int, height: Int)) async throws {
        let program = Program(directory: FixturePlugins.root)
        let terminal = try await TmuxTerminal(program, "console", "--simulate", width: size.width, height: size.height)
        let gates = try await terminal.screen(with: "✓ 8/8")
        #expect(gates[1].hasPrefix("/gates"))
        #expect(gates.contains { $0.hasPrefix("  ├─ ✓ segment    open") && $0.contains("authenticated") })
        #expect(gates.contains { $0.contains("│ /gates/analytics") } == (size.width == 200))
        try await terminal.press("Down", "Enter")
        let gate = try await terminal.screen(with: "/gates/analytics/segment")
        #expect(gate.contains { $0.contains("plugin     segment 1.0.0") })
        try await terminal.press("/", "t", "r", "a", "c", "k", "Enter", "End", "Enter")
        try await terminal.screen(with: "/gates/analytics/segment/operations/track")
        try await terminal.screen(with: "connector-host send analytics/segment track --simulate")
        try await terminal.press("2")
        try await terminal.screen(with: "no events sent yet")
        try await terminal.press("5")
        try await terminal.screen(with: "/plugins")
        try await terminal.press("6")
        try await terminal.screen(with: "probe interval")
        try await terminal.press("7", "?")
        try await terminal.screen(with: "copy the command line that does the same")
        try await terminal.press("Escape", "q")
        #expect(try await terminal.end().contains("status 0"))
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"))
    func `the screen in docs is what the program shows, except for the times`() async throws {
        let page = try readFile("docs/console.md")
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = try #require(lines.firstIndex(of: "<!-- screen: console --simulate -->"))
        let shown = lines[(start + 2)...].prefix { $0 != "```" }
        let terminal = try await TmuxTerminal(
            Program(directory: FixturePlugins.root),
            "console",
            "--simulate",
            width: 100
        )
        var screen = try await terminal.screen(with: "✓ 8/8")
        while screen.last?.isEmpty == true { screen.removeLast() }
        #expect(Self.withoutTimes(screen) == Self.withoutTimes(Array(shown)))
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"))
    func `an operation is called, and an event sent, through forms that are filled in by keyboard`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let geocoder = try await TmuxTerminal(
            program,
            "console",
            "--simulate",
            "--route",
            "/gates/geocoder/operations/geocode"
        )
        try await geocoder.screen(with: "✓ 8/8")
        try await geocoder.screen(with: "the place, in free text")
        try await geocoder.press("e", "B", "e", "r", "n", "Tab", "Tab", "x", "Enter")
        try await geocoder.screen(with: "limit must be a number")
        try await geocoder.press("BSpace", "1", "Enter")
        try await geocoder.screen(with: "call geocode of geocoder: done in")
        let answer = try await geocoder.screen(with: "result        done")
        #expect(answer.contains { $0.contains("query=Bern limit=1") })
        try await geocoder.press("q")
        #expect(try await geocoder.end().contains("status 0"))
        let track = try await TmuxTerminal(
            program,
            "console",
            "--simulate",
            "--route",
            "/gates/analytics/segment/operations/track"
        )
        try await track.screen(with: "✓ 8/8")
        try await track.press("e", "Enter")
        try await track.screen(with: "event is missing")
        try await track.press("S", "e", "e", "n", "Down", "u", "1", "Enter")
        try await track.screen(with: "stored ")
        try await track.screen(with: "Last call")
        // The receipt leads to the event.
        try await track.press("/", "Escape", "Down", "Down", "Down", "Enter")
        let event = try await track.screen(with: "Payload for the vendors")
        #expect(event.contains { $0.contains(#""userId": "u1""#) })
        try await track.press("q")
        #expect(try await track.end().contains("status 0"))
    }

    /// The words of lines, without ages, and without the blanks that depend on them.
    private static func withoutTimes(_ lines: [String]) -> [String] {
        lines.filter { !$0.isEmpty }.map { line in
            // What is cut depends on the ages, too.
            let whole = line.split(separator: "…").first.map(String.init) ?? ""
            let words = whole.split(separator: " ").filter { Int($0) == nil && $0 != "s" && $0 != "since" }
            return words.prefix(6).joined(separator: " ")
        }
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"))
    func `an operator sees a vendor that is away, and replays and drops dead letters`() async throws {
        let bench = try await OutboxWorkspace()
        bench.sink.answers { _ in .away }
        // Events of one file are stored in any order.
        for id in ["m1", "m2"] {
            try bench.workspace.write(OutboxWorkspace.line(id), to: "event.jsonl")
            _ = try await bench.send("segment", file: "event.jsonl").finish()
        }
        let terminal = try await TmuxTerminal(bench.program, "console", "--route", "/outbox", width: 120, height: 30)
        try await terminal.screen(with: "m1")
        try await terminal.press("1")
        try await terminal.screen(with: "degraded")
        bench.sink.answers { _ in .refuses }
        try await terminal.press("3")
        try await terminal.screen(with: "2 dead letters, oldest first")
        // The letters may have died one after the other.
        try await terminal.press("Home", "Enter")
        let event = try await terminal.screen(with: "At segment")
        #expect(event.contains { $0.contains("invalid: ") && $0.contains("bad event") })
        #expect(event.contains { $0.contains("\"messageId\": \"m1\"") })
        try await terminal.press("y")
        try await terminal.screen(with: "copied: connector-host outbox explain m1")
        #expect(try await terminal.tmux("show-buffer") == "connector-host outbox explain m1")
        try await terminal.press("Escape")
        try await terminal.screen(with: "2 dead letters, oldest first")
        try await terminal.press("d")
        try await terminal.screen(with: "Drop the dead letter m1 of segment?")
        try await terminal.press("n")
        try await terminal.screen(without: "Drop the dead letter")
        bench.sink.answers { _ in .takes }
        let taken = bench.sink.expect(.answered, 1)
        try await terminal.press("p")
        try await taken.met()
        try await terminal.screen(with: "1 dead letter, oldest first")
        #expect(bench.sink.taken == ["m1": 1])
        try await terminal.press("d", "y")
        try await terminal.screen(with: "no dead letters")
        try await terminal.press("1", "r")
        try await terminal.screen(with: "segment is open")
        try await terminal.press("q")
        try await terminal.screen(with: "the terminal is as it was")
        #expect(try await bench.json("outbox", "dead")["dead"]?.array?.isEmpty == true)
        try await bench.sink.stop()
    }

    @Test(
        .enabled(if: TmuxTerminal.isThere, "tmux is not installed"),
        arguments: ["q", "C-c", "INT", "TERM", "HUP", "QUIT", "SEGV", "ABRT"]
    )
    func `whatever ends the console, the terminal is as it was`(_ way: String) async throws {
        // Swift's own backtrace of a program of this size takes a minute.
        let terminal = try await TmuxTerminal(
            Program(directory: FixturePlugins.root),
            "console",
            "--simulate",
            variables: ["SWIFT_BACKTRACE=enable=no"]
        )
        let screen = try await terminal.screen(with: "✓ 8/8")
        #expect(!screen.contains("the text before"))
        if ["q", "C-c"].contains(way) { try await terminal.press(way) } else { terminal.signal(way) }
        let end = try await terminal.end()
        #expect(end.first == "the text before")
        #expect(try await terminal.screen(with: "the terminal is as it was").contains("the terminal is as it was"))
        let status = ["SEGV": 139, "ABRT": 134][way] ?? 0
        #expect(end.contains("status \(status)"))
        if status > 0 { #expect(end.contains { $0.contains("connector-host: SIG\(way)") }, "what it says is seen") }
        #expect(try await terminal.tmux("display", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}") == "001\n")
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"))
    func `the window may grow and shrink, and Ctrl-Z stops the whole job`() async throws {
        let program = Program(directory: FixturePlugins.root)
        let terminal = try await TmuxTerminal(program, "console", "--simulate")
        try await terminal.screen(with: "✓ 8/8")
        try await terminal.tmux("resize-window", "-x", "200", "-y", "60")
        try await terminal.screen(with: "│ /gates/analytics")
        try await terminal.tmux("resize-window", "-x", "20", "-y", "4")
        try await terminal.screen(without: "posthog")
        try await terminal.tmux("resize-window", "-x", "80", "-y", "24")
        try await terminal.screen(with: "posthog")
        try await terminal.press("C-z")
        #expect(try await terminal.screen(with: "the job has stopped").first == "the text before")
        try await terminal.press("Enter")
        try await terminal.screen(with: "✓ 8/8")
        try await terminal.press("q")
        #expect(try await terminal.end().contains("status 0"))
    }

    @Test(.enabled(if: TmuxTerminal.isThere, "tmux is not installed"))
    func `the console uses the sixteen colours, none with NO_COLOR, and ASCII in a locale without UTF-8`() async throws
    {
        let program = Program(directory: FixturePlugins.root)
        let coloured = try await TmuxTerminal(program, "console", "--simulate")
        try await coloured.screen(with: "✓ 8/8")
        #expect(try await coloured.tmux("capture-pane", "-p", "-e").contains("\u{1B}[32m✓"))
        let plain = try await TmuxTerminal(program, "console", "--simulate", variables: ["NO_COLOR=1", "LANG=C"])
        try await plain.screen(with: "+ 8/8")
        let text = try await plain.tmux("capture-pane", "-p", "-e")
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        for colour in [30...37, 90...97].joined() { #expect(!text.contains("\u{1B}[\(colour)m")) }
    }
}
