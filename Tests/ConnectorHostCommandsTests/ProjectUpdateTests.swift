// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorHost
import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorScaffold

/// Bringing projects to newer hosts.
@Suite struct ProjectUpdateTests {
    private let workspace: Workspace
    private var path: String { "\(workspace.path)/x" }

    init() throws {
        workspace = try Workspace()
        _ = try Project(name: "x", language: .c).create(at: "\(workspace.path)/x", version: "0.1.0")
    }

    private func text(_ file: String) throws -> String? { try ProjectFolder(path: path).read(file) }

    @Test func `an empty path is refused`() {
        let made = #expect(throws: ConnectorError.self) {
            try Project(name: "x", language: .c).create(at: "", version: "0.1.0")
        }
        let updated = #expect(throws: ConnectorError.self) { try ProjectUpdate(at: "", version: "0.1.0") }
        #expect(made?.code == .invalid && updated?.code == .invalid)
    }

    @Test func `the same host changes nothing`() throws {
        let record = try text("generated/host.json")
        let update = try ProjectUpdate(at: path, version: "0.1.0")
        #expect((update.written + update.removed + update.conflicts + update.kept).isEmpty)
        #expect(try text("generated/host.json") == record)
    }

    @Test func `a newer host rewrites its own files, and no others`() throws {
        try workspace.write("mine", to: "x/src/x.c")
        try workspace.write("mine", to: "x/Makefile")
        let update = try ProjectUpdate(at: path, version: "0.10.0")
        #expect(update.versions.old == "0.1.0" && update.versions.new == "0.10.0")
        #expect(
            update.written == ["generated/check", "generated/install-host", "generated/rules.mk"]
                && update.conflicts.isEmpty
        )
        #expect(try text("generated/check")?.contains("connector-host 0.10.0") == true)
        #expect(try text("src/x.c") == "mine" && text("Makefile") == "mine")
        #expect(try ProjectUpdate(at: path, version: "0.10.0").written.isEmpty)
    }

    @Test func `an edited file stays, and the newer text is beside it`() throws {
        try workspace.write("mine", to: "x/generated/rules.mk")
        try workspace.write("mine", to: "x/generated/connector/mine.h")
        let update = try ProjectUpdate(at: path, version: "0.2.0")
        #expect(
            update.conflicts == ["generated/rules.mk"]
                && update.written == ["generated/check", "generated/install-host"]
        )
        #expect(try text("generated/rules.mk") == "mine")
        #expect(try text("generated/rules.mk.new")?.contains("0.2.0") == true)
        // Said once; taking it over is up to the author.
        let again = try ProjectUpdate(at: path, version: "0.2.0")
        #expect(again.conflicts.isEmpty && again.kept == ["generated/rules.mk"])
    }

    @Test func `a missing file comes back, and one that the host no longer has goes unless it was edited`() throws {
        let folder = try ProjectFolder(path: path)
        try folder.remove("generated/connector/base.h")
        var files = try Project(name: "x", language: .c).files(version: "0.1.0")
        for name in ["old", "edited"] {
            files.append(ProjectFile(path: "generated/\(name).h", text: "was"))
            try folder.write(ProjectFile(path: "generated/\(name).h", text: name == "old" ? "was" : "is"))
        }
        files.append(ProjectFile(path: "generated/../Makefile", text: try #require(try text("Makefile"))))
        try folder.write(ProjectRecord(Project(name: "x", language: .c), version: "0.1.0", files).file)
        let update = try ProjectUpdate(at: path, version: "0.1.0")
        #expect(update.written == ["generated/connector/base.h"])
        #expect(update.removed == ["generated/old.h"] && update.kept == ["generated/edited.h"])
        #expect(try text("Makefile") != nil)
        #expect(try text("generated/edited.h") != nil)
        #expect(try text("generated/old.h") == nil)
    }

    @Test func `an older host and a damaged record are refused, and change nothing`() throws {
        _ = try ProjectUpdate(at: path, version: "0.2.0")
        let error = #expect(throws: ConnectorError.self) { _ = try ProjectUpdate(at: path, version: "0.1.9") }
        #expect(error?.message == "the project is for connector-host 0.2.0, and this one is 0.1.9")
        let unreadable = try #require(try text("generated/host.json")).replacing("0.2.0", with: "0-beta")
        for text in ["", "{", "[]", "{}", #"{"record": 1, "name": "../../x", "language": "c"}"#, unreadable] {
            try workspace.write(text, to: "x/generated/host.json")
            #expect(throws: ConnectorError.self) { _ = try ProjectUpdate(at: path, version: "0.2.0") }
        }
        #expect(try text("generated/check")?.contains("0.2.0") == true)
    }

    @Test(arguments: [
        ("0.2.0-beta.2", "0.2.0-beta.1", true), ("0.2.0", "0.2.0-beta.1", true), ("0.2.0-beta.1", "0.2.0", false),
    ])
    func `releases are compared as semantic versions`(_ project: String, _ host: String, _ isNewer: Bool) throws {
        _ = try ProjectUpdate(at: path, version: project)
        if isNewer {
            #expect(throws: ConnectorError.self) { try ProjectUpdate(at: path, version: host) }
        } else {
            #expect(try ProjectUpdate(at: path, version: host).versions.old == project)
        }
    }

    @Test func `a file that cannot be removed is an error, and a missing one is not`() throws {
        let folder = try ProjectFolder(path: path)
        try folder.remove("generated/none")
        let error = #expect(throws: ConnectorError.self) { try folder.remove("generated") }
        #expect(error?.message == "\(path)/generated cannot be removed")
        #expect(try text("generated/host.json") != nil)
    }

    @Test func `a project in every language has every file, and no placeholder is left`() throws {
        for language in ProjectLanguage.allCases {
            let project = try Project(name: "my-vendor", language: language, capability: "files/1", kit: "/kit")
            let files = project.files(version: "0.1.0")
            let paths = Set(files.map(\.path))
            #expect(paths.count == files.count)
            for path in [
                "README.md", "LICENSE", ".gitignore", "Makefile", "connectors.json", "answers.json", "tests/calls",
                "generated/check", "generated/rules.mk",
            ] { #expect(paths.contains(path), "\(language) \(path)") }
            #expect(paths.filter { $0.hasPrefix(".github/") } == [".github/workflows/test.yml"])
            for file in files {
                #expect(try file.path.firstMatch(of: Regex("@[A-Z]+@")) == nil, "\(file.path)")
                #expect(try file.text.firstMatch(of: Regex("@[A-Z]+@")) == nil, "\(file.path)")
            }
        }
    }
}
