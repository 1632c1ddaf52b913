// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorSimulator
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `connector-host record`, `"record"` in the file, and the replay of what they made.
@Suite(.timeLimit(.minutes(5)), .serialized) struct RecordCommandTests {
    private static let agent = "example/1.0 (ada@example.com)"

    /// A workspace whose only connector asks a geocoder at a URL.
    private func workspace(_ endpoint: String, _ more: JSONObject = [:]) throws -> Workspace {
        let workspace = try Workspace()
        var connector: JSONObject = [
            "name": "geocoder", "plugin": "nominatim",
            "config": ["endpoint": .string(endpoint), "userAgent": .string(Self.agent)],
        ]
        for member in more.members { connector[member.name] = member.value }
        try workspace.configure([.object(connector)])
        return workspace
    }

    /// Runs a body beside a server that stands for the real vendor; the requests that it received.
    private func withVendor(_ body: (_ url: String) async throws -> Void) async throws -> [RecordedRequest] {
        let simulator = try Simulator()
        let serving = Task { try await simulator.run() }
        defer { serving.cancel() }
        try await body(try await simulator.baseURL(of: "nominatim"))
        return simulator.received()
    }

    private static let call = ["call", "geocoder", "geocode", "query=Berlin", "limit=1"]

    private func record(_ program: Program, _ options: [String] = [], _ command: [String]) async throws
        -> Program.Result
    {
        try await program.start(["record", "geocoder"] + options + ["--"] + command).finish()
    }

    @Test(.enabled(if: Program.mayMount, "only root may mount"))
    func `a recording for which the disk has no room leaves no file in the way of the next one`() async throws {
        let workspace = try workspace("http://127.0.0.1:1")
        let record = """
            "$0" record geocoder --into full/a.json -- \
            "$0" call geocoder geocode query=Berlin limit=1 --simulate > /dev/null; echo $?
            """
        let script = """
            mkdir full && mount -t tmpfs -o size=256k none full || exit 2
            cat /dev/zero > full/filler 2> /dev/null
            \(record)
            ls -A full
            rm full/filler
            \(record)
            """
        let result = try await workspace.program.startMounting(script).finish()
        #expect(result.lines == ["1", "filler", "0", ""], "\(result)")
        #expect(result.error.contains("free space on the disk"), "\(result.error)")
    }

    @Test func `a command gets variables that are not UTF-8 with the bytes that they have`() async throws {
        let workspace = try workspace("http://127.0.0.1:1")
        let script = """
            export X="$(printf 'a\\377')"
            exec "$0" record geocoder -- sh -c 'printf %s "$X" | od -An -tx1'
            """
        let result = try await Child(start: "/bin/sh", ["-c", script, Program.path], workspace.program).finish()
        #expect(result.output == " 61 ff\n" && result.error.contains("nothing was recorded"), "\(result)")
    }

    @Test func `a call is recorded, replays without its vendor, and is a case for test`() async throws {
        var file = ""
        var answer = ""
        let received = try await withVendor { url in
            let workspace = try self.workspace(url)
            let result = try await record(workspace.program, [], [Program.path] + Self.call)
            #expect(result.status == 0, "\(result)")
            answer = result.output
            #expect(answer.contains("Berlin"))
            #expect(result.error.contains("to geocoder in geocoder.recording.json"), "\(result.error)")
            file = try readFile(at: "\(workspace.path)/geocoder.recording.json")
            #expect(shell("test $(stat -c %a '\(workspace.path)/geocoder.recording.json') = 600") == 0)
            let again = try await record(workspace.program, ["--into", "b.json"], [Program.path] + Self.call)
            #expect(again.status == 0 && again.output == answer)
            #expect(try readFile(at: "\(workspace.path)/b.json") == file)
        }
        #expect(!received.isEmpty && !file.contains("127.0.0.1"))
        let workspace = try self.workspace(
            "https://nominatim.example.com/nominatim",
            ["simulate": "geocoder.recording.json"]
        )
        try workspace.write(file, to: "geocoder.recording.json")
        let replay = try await workspace.program.start(Self.call + ["--simulate"]).finish()
        #expect(replay.status == 0 && replay.output == answer, "\(replay)")
        let other = try await workspace.program.run(
            "call",
            "geocoder",
            "geocode",
            "query=Paris",
            "limit=1",
            "--simulate"
        )
        #expect(other.status == 1)
        #expect(
            other.error.contains("no answer is recorded for GET /nominatim/search")
                && other.error.contains(#"query "q" is "Paris""#),
            "\(other.error)"
        )
        let test = [
            "test", "nominatim", "--answers", "geocoder.recording.json", "--only", "recorded-calls", "--strict", "6",
        ]
        let config = #"{"endpoint": "http://127.0.0.1:1/nominatim", "userAgent": "\#(Self.agent)"}"#
        let passed = try await workspace.program.start(test + ["--config", config, "--format", "json"]).finish()
        #expect(passed.status == 0, "\(passed.output)\(passed.error)")
        #expect(try JSONValue(parsing: passed.output)["rules"]?[0]?["verdict"] == "kept", "\(passed.output)")
        // Made up settings ask for paths that the recording does not have.
        let unconfigured = try await workspace.program.start(test + ["--format", "json"]).finish()
        let rule = try JSONValue(parsing: unconfigured.output)["rules"]?[0]
        #expect(rule?["verdict"] == "unchecked", "\(unconfigured.output)")
        #expect(rule?["reason"]?.string?.contains("; pass --config JSON with the settings") == true)
        try workspace.write(file.replacing("\"limit\": 1", with: "\"limit\": 2"), to: "geocoder.recording.json")
        let broken = try await workspace.program.start(test + ["--config", config]).finish()
        #expect(broken.status == 1 && broken.output.contains("was recorded"), "\(broken.output)")
    }

    @Test func `a recorded case shows what differs, and hides no setting but secrets`() async throws {
        let workspace = try Workspace()
        let root = #"{"project_name": "kinto", "http_api_version": "1.22", "user": {"id": "account:ada"}}"#
        let recording = """
            {"version": 1, "exact": true, "answers": [
              {"path": "/v1/", "json": \(root)},
              {"path": "/v1/buckets/b", "json": {"data": {"id": "b", "last_modified": 1}, "permissions": {}}}
            ], "calls": [{"operation": "database/get", "arguments": {"collection": "c", "id": "x-secretive"}, "result": {}}]}
            """
        try workspace.write(recording, to: "kinto.json")
        let config = #"{"endpoint": "http://x/v1", "bucket": "b", "username": "ada", "password": "secretive"}"#
        let test = ["test", "kinto", "--answers", "kinto.json", "--only", "recorded-calls", "--strict", "6"]
        let result = try await workspace.program.start(test + ["--config", config]).finish()
        #expect(result.status == 1, "\(result)")
        #expect(
            result.output.contains("no answer is recorded for GET /v1/buckets/b/collections/c/records/x-•••"),
            "\(result.output)\(result.error)"
        )
    }

    @Test func `what is no leaf of the command's file is refused, before a host runs`() async throws {
        let workspace = try Workspace()
        let leaf: JSONValue = [
            "name": "nominatim", "plugin": "nominatim", "config": ["userAgent": .string(Self.agent)],
        ]
        try workspace.configure([["name": "geocoder", "connectors": [leaf]]])
        let call = [Program.path] + Self.call + ["--simulate"]
        let composite = try await record(workspace.program, [], call)
        #expect(composite.status == 1 && composite.output.isEmpty, "\(composite)")
        #expect(composite.error.contains("record one of geocoder/nominatim"), "\(composite)")
        let unknown = try await workspace.program.start(["record", "geocodr", "--"] + call).finish()
        #expect(unknown.status == 1 && unknown.output.isEmpty, "\(unknown)")
        #expect(unknown.error.contains("there is no connector \"geocodr\" in connectors.json"), "\(unknown)")
        let script = try await record(workspace.program, [], ["/bin/sh", "-c", "echo ran"])
        #expect(script.status == 1 && script.output == "ran\n", "\(script)")
        #expect(script.error.contains("record one of geocoder/nominatim"), "\(script)")
        let other = try await record(workspace.program, [], call + ["--config", "absent.json"])
        #expect(other.error.contains("nothing was recorded"), "\(other)")
    }

    @Test(arguments: [
        "{\"version\": 1, \"connectors\": [{\"name\": \"geocodr\", \"plugin\": \"nominatim\",\n\"heel\": 1}]}",
        "{\"version\": 1, \"connectors\":\n]}",
    ])
    func `the faults of the command's file are reported in place of a connector that it lacks`(text: String)
        async throws
    {
        let workspace = try Workspace()
        try workspace.write(text, to: "connectors.json")
        let call = [Program.path] + Self.call + ["--simulate"]
        let faulty = try await record(workspace.program, [], call)
        #expect(faulty.status == 2 && faulty.output.isEmpty, "\(faulty)")
        #expect(faulty.error.contains("connectors.json:2:"), "\(faulty)")
        #expect(!faulty.error.contains("there is no connector"), "\(faulty)")
        // What another program opens is unknown until it has run.
        let script = try await record(workspace.program, [], ["/bin/sh", "-c", "echo ran"])
        #expect(script.status == 1 && script.output == "ran\n", "\(script)")
        #expect(script.error.contains("nothing was recorded"), "\(script)")
        #expect(script.error.contains("connectors.json:2:"), "\(script)")
        #expect(!script.error.contains("there is no connector"), "\(script)")
    }

    @Test func `several processes make one recording, and a simulator is recorded as well`() async throws {
        let workspace = try self.workspace("https://nominatim.example.com")
        let call = "'\(Program.path)' call geocoder geocode limit=1 --simulate"
        let script = "\(call) query=Berlin > /dev/null && \(call) query=Paris > /dev/null && \(call) query=Berlin"
        let result = try await record(workspace.program, [], ["/bin/sh", "-c", script])
        #expect(result.status == 0, "\(result)")
        let file = try JSONValue(parsing: readFile(at: "\(workspace.path)/geocoder.recording.json"))
        #expect(file["calls"]?.array?.count == 3)
        let queries = file["answers"]?.array?.compactMap { $0["when"]?["query"]?["q"]?.string } ?? []
        #expect(queries == ["Berlin", "Paris"])
        #expect(shell("ls -d \"${TMPDIR:-/tmp}\"/connector-record-* 2> /dev/null") != 0)
    }

    @Test func `an existing file is kept, unless it is to be replaced and something was recorded`() async throws {
        let workspace = try self.workspace("https://nominatim.example.com")
        try workspace.write("mine", to: "geocoder.recording.json")
        let file = "\(workspace.path)/geocoder.recording.json"
        let command = [Program.path] + Self.call + ["--simulate"]
        let kept = try await record(workspace.program, [], command)
        #expect(kept.status == 1 && kept.output.isEmpty)
        #expect(kept.error.contains("geocoder.recording.json exists, and is kept"), "\(kept.error)")
        let empty = try await record(workspace.program, ["--replace"], ["/bin/true"])
        #expect(empty.status == 1 && empty.error.contains("nothing was recorded"), "\(empty.error)")
        #expect(try readFile(at: file) == "mine")
        #expect(try await record(workspace.program, ["--replace"], command).status == 0)
        #expect(try readFile(at: file).contains("\"exact\": true"))
    }

    @Test func `a recording does not replace what is no file`() async throws {
        let workspace = try self.workspace("https://nominatim.example.com")
        try #require(shell("mkfifo '\(workspace.path)/pipe'") == 0)
        let command = [Program.path] + Self.call + ["--simulate"]
        let kept = try await record(workspace.program, ["--into", "pipe", "--replace"], command)
        #expect(kept.status == 1 && kept.error.contains("pipe is not a file, and is kept"), "\(kept)")
        #expect(shell("test -p '\(workspace.path)/pipe'") == 0)
    }

    @Test func `a recording that cannot be made fails with the reason`() async throws {
        let workspace = try self.workspace("https://nominatim.example.com")
        let usage = try await workspace.program.run("record", "geocoder")
        #expect(usage.status == 64 && usage.error.contains("COMMAND is missing"), "\(usage.error)")
        let missing = try await record(workspace.program, [], ["./no-such-program"])
        #expect(missing.status == 1 && missing.error.contains("./no-such-program cannot be run"), "\(missing.error)")
        let program = workspace.program
        let command = [Program.path] + Self.call + ["--simulate"]
        let unknown = try await program.start(["record", "geocodr", "--"] + command).finish()
        #expect(unknown.status == 1)
        #expect(
            unknown.error.contains("there is no connector \"geocodr\"")
                && unknown.error.contains("did you mean \"geocoder\"?"),
            "\(unknown.error)"
        )
        let folder = try await record(program, ["--into", "none/a.json"], command)
        #expect(folder.status == 1 && folder.error.contains("make the directory none"), "\(folder.error)")
        let time = try await record(program, ["--time", "soon"], command)
        #expect(time.status == 64 && time.error.contains("is not a time"))
    }

    @Test func `the command's exit status is passed on, and its calls until then are recorded`() async throws {
        let workspace = try self.workspace("https://nominatim.example.com")
        let call = "'\(Program.path)' \(Self.call.joined(separator: " ")) --simulate"
        let result = try await record(workspace.program, [], ["/bin/sh", "-c", "\(call) && exit 7"])
        #expect(result.status == 7 && result.error.contains("recorded "), "\(result)")
        #expect(shell("test -s '\(workspace.path)/geocoder.recording.json'") == 0)
    }

    /// Delays `posix_spawn` until there is a file named "go".
    private static let slowSpawn = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <spawn.h>
        #include <unistd.h>

        int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
            close(open("begun", O_CREAT | O_WRONLY, 0600));
            while (access("go", F_OK) != 0) usleep(10000);
            int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const[], char *const[]) = dlsym(RTLD_NEXT, "posix_spawnp");
            return next(child, file, actions, attributes, arguments, environment);
        }
        """

    @Test func `a signal that comes before the command runs ends the command`() async throws {
        let workspace = try Workspace()
        try workspace.write(Self.slowSpawn, to: "slow.c")
        try #require(shell("cd '\(workspace.path)' && cc -fPIC -shared slow.c -o slow.so") == 0)
        var program = workspace.program
        program.environment["LD_PRELOAD"] = "\(workspace.path)/slow.so"
        let child = try program.start(["record", "geocoder", "--", "/bin/sleep", "120"])
        while shell("[ -e '\(workspace.path)/begun' ]") != 0 {}
        // Not SIGINT, which is left to the terminal if it is handled only once the command runs.
        child.signal(SIGTERM)
        try workspace.write("", to: "go")
        let result = try await child.finish()
        #expect(result.status == 1 && result.error.contains("ended with status \(128 + SIGTERM)"), "\(result)")
    }

    @Test func `"record" in the file records each run until the file exists, and nothing when it is simulated`()
        async throws
    {
        let received = try await withVendor { url in
            let workspace = try self.workspace(url, ["record": "vendor.json", "simulate": "vendor.json"])
            let first = try await workspace.program.start(Self.call).finish()
            #expect(first.status == 0, "\(first)")
            let text = try readFile(at: "\(workspace.path)/vendor.json")
            #expect(text.contains("\"exact\": true") && text.contains("\"calls\""))
            let second = try await workspace.program.start(Self.call + ["--log-level", "warning"]).finish()
            #expect(second.status == 0 && second.error.contains("the recording cannot be written"), "\(second.error)")
            let simulated = try await workspace.program.start(Self.call + ["--simulate"]).finish()
            #expect(
                simulated.status == 0 && simulated.output == first.output && simulated.error.isEmpty,
                "\(simulated)"
            )
            #expect(try readFile(at: "\(workspace.path)/vendor.json") == text)
        }
        #expect(!received.isEmpty)
    }

    @Test(arguments: [#""""#, "7", #"{"file": "x"}"#])
    func `a wrong "record" is a fault of the file, at its place`(value: String) async throws {
        let workspace = try Workspace()
        try workspace.write(
            "{\"version\": 1, \"connectors\": [{\"name\": \"g\", \"plugin\": \"nominatim\",\n\"record\": \(value)}]}",
            to: "connectors.json"
        )
        let result = try await workspace.program.run("validate", "--json")
        #expect(result.status == 2)
        let errors = try JSONValue(parsing: result.output)["errors"]?.array ?? []
        #expect(
            errors.contains { $0["line"] == 2 && $0["message"]?.string?.contains("record") == true },
            "\(result.output)"
        )
    }

    @Test(arguments: [
        (#""exact": 1"#, "exact"), (#""time": "soon""#, "time"), (#""calls": [{"result": 1}]"#, "operation"),
        (#""answers": [{"path": "/", "base64": "%"}]"#, "base64"),
    ])
    func `a damaged recording is reported with line and column`(member: String, name: String) async throws {
        let workspace = try self.workspace("https://nominatim.example.com", ["simulate": "bad.json"])
        let answers = member.contains("answers") ? "" : ", \"answers\": [{\"path\": \"/\"}]"
        try workspace.write("{\"version\": 1,\n \(member)\(answers)}", to: "bad.json")
        let result = try await workspace.program.run("validate", "--json")
        let errors = try JSONValue(parsing: result.output)["errors"]?.array ?? []
        let error = try #require(errors.first { $0["message"]?.string?.contains(name) == true }, "\(result.output)")
        #expect(error["line"] == 2 && error["file"]?.string?.hasSuffix("bad.json") == true)
        #expect(error["column"]?.integer ?? 0 > 1)
    }

    @Test func `the example equals what is recorded today, and its adapter conforms to it`() async throws {
        let folder = "\(FixturePlugins.root)/Examples/Recording"
        let workspace = try Workspace()
        var program = workspace.program
        program.directory = folder
        let script =
            "for query in Berlin Nowhereville; do '\(Program.path)' call geocoder geocode query=$query limit=1 --simulate; done"
        let file = "\(workspace.path)/again.json"
        let result = try await record(program, ["--into", file], ["/bin/sh", "-c", script])
        #expect(result.status == 0, "\(result)")
        #expect(try readFile(at: file) == readFile("Examples/Recording/nominatim.recording.json"))
        let test = [
            "test", "nominatim", "--answers", "nominatim.recording.json", "--only", "recorded-calls", "--strict", "6",
        ]
        // The adapter paces its requests: the timeout of the other rules would be too short for a recorded call.
        let passed = try await program.start(test + ["--timeout", "1ms"]).finish()
        #expect(passed.status == 0, "\(passed.output)\(passed.error)")
    }

    @Test func `the commands of the page on recordings print what it shows`() {
        let root = FixturePlugins.root
        #expect(shell("'\(root)/scripts/run-page' docs/recording.md record '\(Program.path)' > /dev/null") == 0)
    }
}
