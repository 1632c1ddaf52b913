// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHost
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorScaffold

/// `connector-host new`, and the projects that it makes.
@Suite(.serialized) struct NewCommandTests {
    @Test(arguments: ["templates", "headers", "crate"])
    func `the program embeds the files as they are in the sources`(_ kind: String) {
        let file = "Sources/ConnectorScaffold/Embedded/Embedded+\(kind.prefix(1).uppercased() + kind.dropFirst()).swift"
        let root = FixturePlugins.root
        #expect(shell("'\(root)/scripts/embed' \(kind) | cmp - '\(root)/\(file)'") == 0, "make embed")
    }

    @Test func `a project in a folder that was removed has a remedy that fits`() async throws {
        let workspace = try Workspace()
        let script = "mkdir gone && cd gone && rmdir ../gone && exec '\(Program.path)' new mine --language c"
        let result = try await Child(start: "/bin/sh", ["-c", script], workspace.program).finish()
        #expect(result.status == 1 && result.error.contains("check that its folder exists"), "\(result)")
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a project that a full disk cuts short is removed, so that the next attempt makes it`() async throws {
        let workspace = try Workspace()
        let script = """
            mkdir full && mount -t tmpfs -o size=2m none full && cd full || exit 2
            cat /dev/zero > filler 2> /dev/null
            truncate -s -16k filler
            "$0" new rates --language c; echo $?
            ls -A
            rm filler
            "$0" new rates --language c > /dev/null; ls rates/Makefile
            """
        let result = try await workspace.program.startMounting(script).finish()
        #expect(result.lines == ["1", "filler", "rates/Makefile", ""], "\(result)")
        #expect(result.error.contains("free space on the disk"), "\(result.error)")
    }

    @Test(arguments: ["c", "cpp"])
    func `a project builds without a warning, passes its tests, opens and conforms`(_ language: String) async throws {
        let workspace = try Workspace()
        let result = try await workspace.program.run(
            "new",
            "my-vendor",
            "--language",
            language,
            "--capability",
            "things/2",
            "--vendor-url",
            "https://api.example.com/v2"
        )
        #expect(result.status == 0 && result.output.contains("cd my-vendor && make test"), "\(result.error)")
        let project = "\(workspace.path)/my-vendor"
        let flags = "CFLAGS='-O1 -Werror' CXXFLAGS='-O1 -Werror' HOST='\(Program.path)'"
        #expect(shell("make -s -C '\(project)' test \(flags) > '\(workspace.path)/out' 2>&1") == 0)
        #expect(shell("grep -q '6 checks, 0 failed' '\(workspace.path)/out'") == 0)
        var program = workspace.program
        program.directory = project
        let status = try await program.run("status", "--simulate")
        #expect(status.status == 0 && status.output.contains("authenticated  demo"), "\(status.output)")
        let called = try await program.run("call", "--simulate", "my-vendor", "get", "hello")
        #expect(called.output == "world\n")
        let busy = try await program.run("call", "--simulate", "my-vendor", "get", "busy")
        #expect(busy.error.contains("my-vendor answered HTTP 429"), "\(busy.error)")
        let slash = #"s|"config": {|& "endpoint": "https://api.example.com/v2/",|"#
        #expect(shell("sed -i '\(slash)' '\(project)/connectors.json'") == 0)
        let slashed = try await program.run("status", "--simulate")
        #expect(slashed.status == 0 && slashed.output.contains("authenticated  demo"), "\(slashed.output)")
        // Nobody listens there; the suite makes up a key.
        let options = PluginConformance.Options(config: ["endpoint": "http://127.0.0.1:1"])
        let findings = await PluginConformance.check("\(project)/libmy-vendor.so", options: options)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(arguments: ["c", "cpp"])
    func `a project's Makefile notices changes in subfolders, in headers and in itself`(
        _ language: String
    ) async throws {
        let workspace = try Workspace()
        _ = try await workspace.program.run("new", "x", "--language", language)
        try workspace.write("#define NUMBER 1\n", to: "x/src/sub/number.h")
        let more = "#include \"number.h\"\nint helper(void);\nint helper(void) { return NUMBER; }\n"
        try workspace.write(more, to: "x/src/sub/more.\(language)")
        // Files of one age are up to date.
        let script = """
            cd '\(workspace.path)/x' && make -s all && grep -q helper libx.so || exit 1
            age() { find . -exec touch -d 2020-01-01 {} +; }
            age && make -q all || exit 2
            for file in src/sub/more.\(language) src/sub/number.h generated/connector/error.h Makefile; do
                age && touch "$file" && ! make -q all || exit 3
            done
            age && rm src/sub/more.\(language) && ! make -q all || exit 4
            echo 'int gone(void); int user(void); int user(void) { return gone(); }' > src/sub/user.\(language)
            ! make -s all 2> ../errors && grep -q gone ../errors
            """
        #expect(shell(script) == 0)
    }

    @Test(arguments: [("c", "analytics/1", 12), ("cpp", "files/1", 14)])
    func `a project with a standard capability has its operations, and conforms`(
        _ language: String,
        _ capability: String,
        _ checks: Int
    ) async throws {
        let workspace = try Workspace()
        let url = "https://api.example.com/v2"
        let made = try await workspace.program.run(
            "new",
            "my-vendor",
            "--language",
            language,
            "--capability",
            capability,
            "--vendor-url",
            url
        )
        #expect(made.status == 0, "\(made.error)")
        let project = "\(workspace.path)/my-vendor"
        let flags = "CFLAGS='-O1 -Werror' CXXFLAGS='-O1 -Werror' HOST='\(Program.path)'"
        #expect(shell("make -s -C '\(project)' test \(flags) > '\(workspace.path)/out' 2>&1") == 0)
        #expect(shell("grep -q '\(checks) checks, 0 failed' '\(workspace.path)/out'") == 0)
        var options = PluginConformance.Options()
        let answers = try #require(try ProjectFolder(path: project).read("answers.json"))
        options.answers = try JSONValue(parsing: answers, file: "answers.json")
        let findings = await PluginConformance.check("\(project)/libmy-vendor.so", options: options)
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(arguments: ["union", "error", "time", "json"], ["c", "cpp"])
    func `a project may have a name that its language, its headers or its template use`(
        _ name: String,
        _ language: String
    ) async throws {
        let workspace = try Workspace()
        #expect(try await workspace.program.run("new", name, "--language", language).status == 0)
        let flags = "CFLAGS='-O0 -Werror' CXXFLAGS='-O0 -Werror'"
        // The program in a folder with a blank in its name.
        let prepare = "cd '\(workspace.path)' && mkdir 'a b' && ln -s '\(Program.path)' 'a b/connector-host'"
        let make = "make -s -C \(name) test \(flags) HOST=\"$PWD/a b/connector-host\" > out 2>&1"
        #expect(shell("\(prepare) && \(make)") == 0)
        #expect(try readFile(at: "\(workspace.path)/out").contains("6 checks, 0 failed"))
    }

    @Test(arguments: [(ProjectLanguage.rust, "src/lib.rs"), (.swift, "Sources/self/Adapter.swift")])
    func `a project may be named like a keyword, because its type has another name`(
        _ language: ProjectLanguage,
        _ source: String
    ) throws {
        let files = try Project(name: "self", language: language, kit: "/kit").files(version: "0.1.0")
        #expect(files.first { $0.path == source }?.text.contains("struct Adapter") == true)
        #expect(!files.contains { $0.text.contains("import self") })
    }

    @Test(arguments: ["https://h/", "https://h//", "https://h/v1//"])
    func `slashes at the end of the vendor's URL are dropped`(_ url: String) throws {
        let project = try Project(name: "x", language: .c, url: url)
        #expect(project.url == (url.contains("v1") ? "https://h/v1" : "https://h"))
    }

    @Test(arguments: [("connector-text", "rates/1"), ("timer", "files/1"), ("timers", "database/1")])
    func `a name is taken only if a function of the plugin would have another's name`(
        _ name: String,
        _ capability: String
    ) throws {
        let project = try Project(name: name, language: .cpp, capability: capability)
        #expect(project.name == name && project.capability == capability)
    }

    @Test func `the answer names the files that are yours, and counts those of the host`() async throws {
        let workspace = try Workspace()
        let made = try await workspace.program.run("new", "rates", "--language", "c", "--json")
        let files = try #require(JSONValue(parsing: made.output)["files"]?.array).compactMap(\.string)
        let generated = files.count { $0.hasPrefix("generated/") }
        let again = try await workspace.program.run("new", "rates", "--language", "c", "--folder", "again")
        let yours = files.filter { !$0.hasPrefix("generated/") }.map { "  \($0)" }
        let counted = ["✓ again  \(files.count) files"] + yours + ["  generated/  \(generated) files", ""]
        #expect(Array(again.lines.prefix(counted.count)) == counted, "\(again)")
    }

    @Test func `a project's workflow installs every package that the host needs`() throws {
        let script = try readFile("scripts/install-system-packages")
        let packages = script.matches(of: /need \S+\.h (\S+)/).map { String($0.output.1) }
        #expect(packages.count == 4)
        for language in ProjectLanguage.allCases {
            let files = try Project(name: "x", language: language).files(version: "0.1.0")
            let workflow = try #require(files.first { $0.path == ".github/workflows/test.yml" }?.text)
            let installed = workflow.split(separator: "\n").first { $0.contains("apt-get install") } ?? ""
            #expect(Set(packages).isSubset(of: installed.split(separator: " ").map(String.init)), "\(installed)")
        }
    }

    @Test(arguments: ["c", "standard"])
    func `the commands of the page on a first adapter print what it shows`(_ session: String) {
        let root = FixturePlugins.root
        #expect(shell("'\(root)/scripts/run-page' docs/first-plugin.md \(session) '\(Program.path)' > /dev/null") == 0)
    }

    @Test func `a project can have the operations of every standard capability`() throws {
        for definition in CapabilityDefinition.all {
            let id = try #require(CapabilityID(definition.id))
            // flush takes no request.
            let expected = definition.operations.map(\.name).filter { $0 != "flush" }
            #expect(ProjectOperation.all(of: id).map(\.name) == expected)
        }
    }

    @Test func `a broken plugin fails the project's tests, with what was expected`() async throws {
        let workspace = try Workspace()
        _ = try await workspace.program.run("new", "x", "--language", "c")
        let test = "make -s -C '\(workspace.path)/x' test HOST='\(Program.path)' > '\(workspace.path)/out' 2>&1"
        #expect(shell("sed -i 's,/get,/wrong,' '\(workspace.path)/x/src/x.c' && \(test)") != 0)
        #expect(shell("grep -q 'get hello: expected world, got: .*HTTP 404' '\(workspace.path)/out'") == 0)
    }

    @Test(arguments: ["c", "cpp"])
    func `a project refuses JSON that the host would refuse, and tells a web page from the vendor's refusal`(
        _ language: String
    ) async throws {
        let workspace = try Workspace()
        _ = try await workspace.program.run("new", "x", "--language", language)
        let answers = #"""
            {"version": 1, "answers": [
                {"path": "/account", "json": {"account": "demo"}},
                {"path": "/get", "when": {"query": {"key": "large"}}, "text": "[1e400]"},
                {"path": "/get", "when": {"query": {"key": "half"}}, "text": "\"\\ud800\""},
                {"path": "/get", "when": {"query": {"key": "twice"}}, "text": "{\"a\": 1, \"\\u0061\": 2}"},
                {"path": "/get", "when": {"query": {"key": "page"}}, "status": 400, "text": "<html>Log in.</html>"}
            ]}
            """#
        let calls = """
            get large -> error: it is not JSON
            get half -> error: it is not JSON
            get twice -> error: it is not JSON
            get page -> error: a web page (HTTP 400) came instead of
            """
        try workspace.write(answers, to: "x/answers.json")
        try workspace.write(calls, to: "x/tests/calls")
        let test = "make -s -C '\(workspace.path)/x' test HOST='\(Program.path)' > '\(workspace.path)/out' 2>&1"
        #expect(shell(test) == 0)
        #expect(try readFile(at: "\(workspace.path)/out").contains("6 checks, 0 failed"))
    }

    @Test func `a project for another host names both`() async throws {
        let workspace = try Workspace()
        _ = try await workspace.program.run("new", "x", "--language", "c")
        let host = "#!/bin/sh\necho 9.9.9\n"
        try workspace.write(host, to: "host")
        let test = "cd '\(workspace.path)/x' && chmod +x ../host && sh generated/check ../host libx.so 2> ../out"
        #expect(shell(test) != 0)
        #expect(
            shell("grep -q 'for connector-host \(ConnectorHost.version), and ../host is 9.9.9' '\(workspace.path)/out'")
                == 0
        )
    }

    @Test(arguments: [
        (["new", "x"], 64, "--language"), (["new", "x", "--language", "cobol"], 64, "cobol"),
        (["new", "--update", "x", "--language", "c"], 64, "no other option"),
        (["new", "x", "--language", "c", "--folder", ""], 64, "--folder is empty"),
        (["new", "--update", ""], 64, "this one is empty"),
        (["new", "X", "--language", "c"], 1, "lower-case letters"),
        (["new", "../x", "--language", "c"], 1, "cannot name a plugin"),
        (["new", "x-", "--language", "c"], 1, "cannot name a plugin"),
        (["new", "connector", "--language", "c"], 1, "such as connector-adapter"),
        (
            ["new", "connector-text", "--language", "cpp", "--capability", "database/1"], 1,
            "in C++, where connector_text_query means something else already"
        ),
        (["new", "connector-gate", "--language", "c", "--capability", "database/1"], 1, "connector_gate_create means"),
        (["new", "timespec", "--language", "cpp"], 1, "timespec_get means something else already"),
        (["new", "timer", "--language", "c", "--capability", "database/1"], 1, "such as timer-adapter"),
        (["new", "pthread", "--language", "rust", "--capability", "database/1"], 1, "pthread_create means"),
        (["new", "connector", "--language", "rust"], 1, "cannot name a plugin in Rust"),
        (["new", "kit", "--language", "swift", "--kit", "/there/kit"], 1, "cannot name a plugin in Swift"),
        (["new", "connector-kit", "--language", "swift", "--kit", "/there"], 1, "cannot name a plugin in Swift"),
        (["new", "x", "--language", "c", "--capability", "x"], 1, "such as x/1"),
        (
            ["new", "x", "--language", "c", "--capability", "geocoder"], 1,
            "a standard capability: analytics/1, crash/1"
        ),
        (["new", "x", "--language", "c", "--vendor-url", "ftp://x"], 1, "not the URL of a server"),
        (["new", "x", "--language", "c", "--vendor-url", "https://x/\"a"], 1, "not the URL of a server"),
        (["new", "x", "--language", "c", "--vendor-url", "https://h/../a"], 1, "not the URL of a server"),
        (["new", "x", "--language", "c", "--vendor-url", "https://h/a/."], 1, "not the URL of a server"),
        (["new", "x", "--language", "swift", "--kit", ""], 64, "--kit is empty"),
        (["new", "x", "--language", "swift", "--kit", "there"], 1, "/there, which has no Package.swift"),
        (["new", "x", "--language", "c", "--folder", "there"], 1, "something at there already"),
        (["new", "x", "--language", "c", "--folder", "file/x"], 1, "cannot be written"),
        (["new", "--update", "there"], 1, "there is no project in there"),
    ])
    func `a project that cannot be made or updated is refused with the reason`(
        _ arguments: [String],
        _ status: Int,
        _ words: String
    ) async throws {
        let workspace = try Workspace()
        try workspace.write("", to: "there/kept")
        try workspace.write("", to: "file")
        let result = try await workspace.program.start(arguments).finish()
        #expect(Int(result.status) == status && result.error.contains(words), "\(result.error)")
        #expect(shell("test ! -e '\(workspace.path)/x' && ls '\(workspace.path)/there' | grep -qx kept") == 0)
    }
}
