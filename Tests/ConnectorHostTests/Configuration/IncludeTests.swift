// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files that other files include: where their connectors stand, and where their faults are said to be.
@Suite struct IncludeTests {
    /// Reads `main.json` of a directory with these files, after `prepare`; names below `teams/` are in a directory of their own.
    ///
    /// - Returns: What is open for each leaf, and the faults, in which the directory's path is left out.
    private func read(
        _ files: [String: String],
        environment: [String: String] = [:],
        prepare: (_ directory: String) throws -> Void = { _ in }
    ) throws -> (resolved: ResolvedConfiguration?, faults: [String], directory: String) {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try #require(unsafe mkdir("\(directory.path)/teams", 0o700) == 0)
        for (name, text) in files { try directory.write(name, text) }
        try prepare(directory.path)
        do throws(ConfigurationErrors) {
            let resolved = try Configuration.load(
                file: "\(directory.path)/main.json",
                environment: Configuration.Environment(environment)
            ) { _ in manifest(of:) }
            return (resolved, [], directory.path)
        } catch {
            return (nil, error.errors.map { $0.description.replacing("\(directory.path)/", with: "") }, directory.path)
        }
    }

    /// A file with an `include` and connectors.
    private static func file(_ include: String, _ connectors: String = "") -> String {
        "{\"version\": 1, \"include\": [\(include)],\n \"connectors\": [\(connectors)]}"
    }

    /// A leaf of the plugin `segment`.
    private static func leaf(_ name: String, _ more: String = "") -> String {
        "{\"name\": \"\(name)\", \"plugin\": \"segment\", \"config\": {\"writeKey\": \"k\"}\(more)}"
    }

    @Test func `included connectors follow those of the file, in the order of the include, each with its own includes`()
        throws
    {
        let (resolved, faults, directory) = try read([
            "main.json": Self.file(#""b.json", "teams/c.json""#, Self.leaf("a")),
            "b.json": Self.file("", Self.leaf("b")),
            "teams/c.json": Self.file(#""d.json""#, Self.leaf("c", #", "after": ["a", "d"]"#)),
            "teams/d.json": Self.file("", Self.leaf("d")),
        ])
        #expect(faults == [])
        let configuration = try #require(resolved?.configuration)
        #expect(configuration.connectors.map(\.path) == ["a", "b", "c", "d"])
        #expect(configuration.connectors[2].after == ["a", "d"])
        #expect(configuration.file == "\(directory)/main.json")
        #expect(configuration.includedFiles == ["b.json", "teams/c.json", "teams/d.json"].map { "\(directory)/\($0)" })
        #expect(resolved?.leaves.count == 4)
    }

    @Test func `a file without connectors of its own may consist of includes`() throws {
        let (resolved, faults, _) = try read([
            "main.json": #"{"version": 1, "include": ["b.json"]}"#, "b.json": Self.file("", Self.leaf("b")),
        ])
        #expect(faults == [])
        #expect(resolved?.configuration.connectors.map(\.path) == ["b"])
    }

    @Test func `a file that several others include, by whatever name, is read once`() throws {
        let (resolved, faults, _) = try read(
            [
                "main.json": Self.file(#""teams/b.json", "c.json", "./c.json", "link.json""#),
                "teams/b.json": Self.file(#""../c.json", "${C}""#, Self.leaf("b")),
                "c.json": Self.file("", Self.leaf("c")),
            ],
            environment: ["C": "../c.json"]
        ) { directory in
            try #require(unsafe symlink("c.json", "\(directory)/link.json") == 0)
        }
        #expect(faults == [])
        #expect(resolved?.configuration.connectors.map(\.path) == ["b", "c"])
        #expect(resolved?.configuration.includedFiles.count == 2)
    }

    @Test func `every fault has the file, the line and the column where it is`() throws {
        let (_, faults, _) = try read([
            "main.json": Self.file(
                #""teams/b.json", "c.json""#,
                "{\"name\": \"a\", \"plugin\": \"segmnt\"}"
            ),
            "teams/b.json": Self.file(
                "",
                """
                \(Self.leaf("a")),
                  {"name": "x", "plugin": "sentry", "config": {"endpoint": "${NONE}"}, "after": ["yy"]},
                  {"name": "y", "plugin": "segment", "config": {"writeKey": {"secret": "file:key"}, "batch": 1000}}
                """
            ),
            "c.json": "{\"version\": 1,\n",
        ])
        #expect(
            faults == [
                #"main.json:2:41: a: there is no plugin "segmnt" [unknown-plugin]; did you mean "segment"?"#,
                #"teams/b.json:2:26: a: the name "a" is already used by the connector at main.json:2:26 [duplicate-name]; "#
                    + "rename one of them",
                "teams/b.json:3:60: x: the environment variable NONE is not set [missing-variable]; "
                    + "set it, or write ${NONE:-default}",
                #"teams/b.json:3:82: x: "after" names "yy", which does not exist [unknown-connector]; did you mean "y"?"#,
                "teams/b.json:4:72: y: the secret file teams/key does not exist [secret-unavailable]; "
                    + "write the secret to that file, and chmod 600 it",
                "teams/b.json:4:94: y: batch must be at most 100 [invalid-value]",
                "c.json:2:1: expected a name in double quotes, found the end [syntax]",
            ]
        )
    }

    @Test func `paths in an included file start at its directory`() throws {
        let (resolved, faults, directory) = try read([
            "main.json": Self.file(
                #""teams/b.json""#,
                #"{"name": "a", "plugin": "segment", "config": {"writeKey": {"secret": "file:key"}}}"#
            ),
            "key": "outer", "teams/key": "inner",
            "teams/b.json": Self.file(
                "",
                """
                {"name": "b", "plugin": "segment", "config": {"writeKey": {"secret": "file:key"}}, "simulate": "b.answers"},
                {"name": "c", "plugin": "./libsentry.so", "config": {"endpoint": "https://sentry.io"}}
                """
            ),
        ])
        #expect(faults == [])
        let leaves = try #require(resolved?.leaves)
        #expect(try leaves["a"]?.get().secrets["writeKey"]?.reveal() == "outer")
        #expect(try leaves["b"]?.get().secrets["writeKey"]?.reveal() == "inner")
        #expect(try leaves["b"]?.get().simulator == .answers(file: "\(directory)/teams/b.answers"))
        #expect(try leaves["c"]?.get().specification.name == "\(directory)/teams/./libsentry.so")
    }

    @Test func `a file that leads back to itself is a fault that names the circle`() throws {
        let (_, faults, _) = try read([
            "main.json": Self.file(#""b.json", "main.json""#), "b.json": Self.file(#""teams/c.json""#),
            "teams/c.json": Self.file(#""../b.json""#),
        ])
        let fix = "[dependency-cycle]; remove one of these from \"include\""
        #expect(
            faults == [
                "main.json:1:38: files include each other: main.json → main.json \(fix)",
                "teams/c.json:1:28: files include each other: b.json → teams/c.json → teams/../b.json \(fix)",
            ]
        )
    }

    @Test func `a file that cannot be read is a fault at the place that names it`() throws {
        let (_, faults, _) = try read([
            "main.json": Self.file(#""none.json", "teams", "pipe", "", 5, "large.json", "sock""#),
            "large.json": String(repeating: " ", count: Configuration.sizeLimit + 1),
        ]) { directory in
            try #require(unsafe mkfifo("\(directory)/pipe", 0o600) == 0)
            try #require(unsafe mknod("\(directory)/sock", S_IFSOCK | 0o600, 0) == 0)
        }
        #expect(
            faults == [
                "main.json:1:28: there is no file none.json [not-found]; check the path",
                "main.json:1:41: teams is a directory [unreadable]; check that it is the right path",
                "main.json:1:50: pipe is not a regular file [unreadable]; write its content to a file first",
                "main.json:1:58: include[3] must be the path of a file [invalid-value]",
                "main.json:1:62: include[4] must be a string, not an integer [wrong-type]",
                "main.json:1:65: large.json has more than 4096 KiB [too-large]; check that it is the right file",
                "main.json:1:79: sock is not a regular file [unreadable]; write its content to a file first",
            ]
        )
    }

    @Test(arguments: ["warn", "strict"])
    func `a file that everybody can write is refused where trust is strict`(trust: String) throws {
        let (resolved, faults, _) = try read([
            "main.json": #"{"version": 1, "trust": "\#(trust)", "include": ["b.json"]}"#,
            "b.json": Self.file("", Self.leaf("b")),
        ]) { directory in
            try #require(unsafe chmod("\(directory)/b.json", 0o666) == 0)
        }
        #expect((resolved != nil) == (trust == "warn"))
        guard trust == "strict" else { return }
        #expect(faults.count == 1)
        #expect(
            faults.first?.hasPrefix("main.json:1:47: the included file is not trusted: every user can write ") == true
        )
        #expect(faults.first?.contains("[denied]") == true)
    }

    @Test func `settings of the host as a whole are allowed in the main file only`() throws {
        let (_, faults, _) = try read([
            "main.json": Self.file(#""b.json""#),
            "b.json": "{\"version\": 2, \"trust\": \"strict\", \"conectors\": []}",
        ])
        #expect(
            faults == [
                "b.json:1:1: connectors is missing; it must be an array [missing-value]",
                "b.json:1:13: the file has version 2, but this host supports only version 1 [invalid-value]; write \"version\": 1, or use a newer host",
                #"b.json:1:16: "trust" is allowed only in the main file, and this file is included [unknown-key]"#,
                #"b.json:1:35: unknown key "conectors" [unknown-key]; did you mean "connectors"?"#,
            ]
        )
    }

    @Test func `includes nest thirty-two levels deep, and no deeper`() throws {
        func files(_ depth: Int) -> [String: String] {
            var files = ["main.json": Self.file("\"1.json\"")]
            for number in 1...depth {
                files["\(number).json"] = Self.file(number < depth ? "\"\(number + 1).json\"" : "")
            }
            return files
        }
        #expect(try read(files(Configuration.depthLimit)).faults == [])
        #expect(
            try read(files(Configuration.depthLimit + 1)).faults == [
                "32.json:1:28: includes nest deeper than 32 levels [invalid-value]"
            ]
        )
    }

    @Test func `at most a thousand files are read, and all together may be no larger than one`() throws {
        var files: [String: String] = [:]
        for number in 0..<999 { files["\(number).json"] = "{\"version\": 1, \"connectors\": []}" }
        let names = (0..<999).map { "\"\($0).json\"" }.joined(separator: ", ")
        files["main.json"] = Self.file(names)
        #expect(try read(files).faults == [])
        files["0.json"] = Self.file("\"more.json\"")
        files["more.json"] = "{\"version\": 1, \"connectors\": []}"
        #expect(
            try read(files).faults.map { $0.contains("the configuration has more than 1000 files [too-large]") } == [
                true
            ]
        )
        let half = "{\"version\": 1, \"connectors\": []}" + String(repeating: " ", count: Configuration.sizeLimit / 2)
        let large = ["main.json": Self.file(#""a.json", "b.json""#), "a.json": half, "b.json": half]
        #expect(
            try read(large).faults == [
                "main.json:1:38: with b.json, the files exceed 4096 KiB in total [too-large]; check that they are the right files"
            ]
        )
    }

    @Test func `a field of an included file says which file it is in`() throws {
        let (resolved, _, directory) = try read([
            "main.json": Self.file(#""teams/b.json""#, Self.leaf("a")), "teams/b.json": Self.file("", Self.leaf("b")),
        ])
        let positions = resolved?.configuredLeaves().map { $0.fields.first?.position?.description }
        #expect(positions == ["\(directory)/main.json:2:75", "\(directory)/teams/b.json:2:75"])
    }
}
