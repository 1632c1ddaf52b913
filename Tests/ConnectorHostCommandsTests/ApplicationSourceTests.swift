// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// What another package may write against the libraries, as its compiler sees it: tests of this package see more.
@Suite struct ApplicationSourceTests {
    /// The diagnostics of a source file that is not part of this package, one per line.
    ///
    /// - Parameter mode: How far the compiler goes: its options.
    private func diagnostics(of source: String, _ mode: String = "-typecheck") throws -> [String] {
        let workspace = try Workspace()
        try workspace.write(source, to: "Application.swift")
        let (root, build) = (FixturePlugins.root, Program.buildDirectory)
        let maps =
            "'\(build)'/*.build/module.modulemap '\(root)'/Sources/*/module.modulemap"
            + " '\(root)'/Sources/*/include/module.modulemap '\(build)'/../../checkouts/*/Sources/*/include/module.modulemap"
        let script = """
            set -- \(mode) -parse-as-library -swift-version 6 -diagnostic-style llvm -I '\(build)/Modules'
            for map in \(maps); do [ ! -f "$map" ] || set -- "$@" -Xcc "-fmodule-map-file=$map"; done
            swiftc "$@" '\(workspace.path)/Application.swift' >'\(workspace.path)/output' 2>&1
            """
        shell(script)
        return try readFile(at: "\(workspace.path)/output").split(separator: "\n").map(String.init)
            .filter { $0.contains("error: ") || $0.contains("warning: ") }
    }

    @Test(arguments: [
        "WebConsole.run(host)", "TerminalConsole.run(host)", "host.gate(\"calculator\").call(\"add\", 1, 2)",
    ])
    func `a line that the documentation shows compiles as it stands`(line: String) throws {
        #expect(shell("grep -rqF '\(line)' '\(FixturePlugins.root)/README.md' '\(FixturePlugins.root)/docs'") == 0)
        let source = """
            import ConnectorConsoleTerminal
            import ConnectorConsoleWeb
            import ConnectorHost

            func use(_ host: ConnectorHost) async throws {
                let result: Any = try await \(line)
                print(result)
            }
            """
        #expect(try diagnostics(of: source).filter { $0.contains("error: ") } == [])
    }

    @Test func `the code that sends an event again compiles as it stands`() throws {
        let page = try readFile("Sources/ConnectorHost/ConnectorHost.docc/DeliveringEvents.md")
        let code = try #require(page.firstMatch(of: #/(?s)### Retrying\n.*?```swift\n(.*?)```/#)).output.1
        let source = """
            import ConnectorHost

            func retry(_ analytics: AnalyticsClient) async throws {
            \(code)
            }
            """
        // The compiler has crashed on such code only after it had checked the types.
        #expect(try diagnostics(of: source, "-emit-sil -o /dev/null").filter { $0.contains("error: ") } == [])
    }

    @Test func `an application can make console acts and ask for the time`() throws {
        let source = """
            import ConnectorConsole
            import ConnectorManifest

            let acts = [
                ConsoleAct(.retry, .gate("geocoder/google"), title: "retry google"),
                ConsoleAct(.drop, .letters, title: "drop all", question: "Drop all?", commandLine: "outbox drop --all"),
                ConsoleAct(.replay, .letter("1", connector: nil), title: "replay"),
                ConsoleAct(.call, .operation("add", of: "sums", ["a": 1], isDelivered: false), title: "add"),
                ConsoleAct(ConsoleAct.Verb(rawValue: "pause"), .gate("sums"), title: "pause"),
            ]
            let words = acts.map { act in act.verb == .retry ? act.title : act.verb.rawValue }
            let targets = acts.filter { $0.subject == .letters }
            let now = Timestamp.now
            """
        #expect(try diagnostics(of: source) == [])
    }

    @Test func `a gate's operation is a provider for an application that imports both modules`() throws {
        let source = """
            import ConnectorHost
            import Integrator

            func places(_ gate: GateClient) async throws -> JSONValue {
                let provider: ClosureProvider<JSONObject, JSONValue> = gate.provider("geocode")
                let quick = gate.provider("geocode", options: CallOptions(timeout: .seconds(1)))
                let flow = CallFlow(provider: provider >>>> ClosureProvider { (_: JSONValue) in 1 })
                _ = try await flow.call(["query": "Berlin"])
                return try await quick.request(["query": "Berlin"])
            }
            """
        #expect(try diagnostics(of: source) == [])
    }

    @Test func `earlier names of types still compile, and warn with their new names`() throws {
        let source = """
            import ConnectorKit
            import ConnectorSimulator
            import Integrator

            struct Lengths: DataProvider {
                func request(_ text: String) async throws -> Int { text.count }
            }
            let flow: Integrator<String, Int> = Integrator(provider: Lengths(), execution: .latest)
            let call: PreparedCall<String, Int> = flow.prepare("a")
            let headers: HTTPHeaders = ["Accept": "text/html"]
            let time: WallTime = .now
            """
        let found = try diagnostics(of: source)
        #expect(found.filter { $0.contains("error: ") } == [])
        for name in ["CallFlow", "DeferredCall", "HTTPFields", "Timestamp"] {
            #expect(found.contains { $0.contains("is deprecated: renamed to '\(name)'") }, "\(name)")
        }
    }
}
