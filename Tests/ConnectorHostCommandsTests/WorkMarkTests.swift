// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHostCommands
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The marks of commands that run. Serialized, because a process has one mark.
@Suite(.serialized) struct WorkMarkTests {
    private let workspace: Workspace
    private let folder: String
    private let crashFile: String

    init() throws {
        workspace = try Workspace()
        folder = "\(workspace.path)/connectors.work"
        crashFile = "\(workspace.path)/connectors.crash"
    }

    private func names() throws -> [String] { try Directory.entries(of: folder).map(\.name).sorted() }

    @Test func `a process that begins a second command keeps its mark until the end`() throws {
        for _ in 0..<2 {
            WorkMark.begin(besides: crashFile)
            #expect(try names().count == 1)
        }
        WorkMark.end()
        #expect(unsafe access(folder, F_OK) != 0, "the last mark takes its folder along")
    }

    /// - Parameter name: The name of the other command's mark; earlier versions used the id of the process.
    @Test(arguments: ["other.mark", "\(getpid())"])
    func `commands whose processes have the same id, as in containers, keep each other's marks`(_ name: String) throws {
        try Directory.makePrivate(folder)
        let path = "\(folder)/\(name)"
        let other = try #require(try LockedFile.create(path))
        let note: JSONValue = [
            "version": 1, "event": "silence", "command": "run", "process": .integer(Int64(getpid())), "seconds": 1,
            "directory": "/other",
        ]
        try OutputFile.write(note.utf8(), to: other)
        WorkMark.begin(besides: crashFile, listeningIn: "/own")
        #expect(WorkMark.directories(besides: crashFile) == ["/other", "/own"])
        #expect(WorkMark.takeAbandoned(besides: crashFile) == nil)
        WorkMark.end()
        #expect(FileID(other) == FileID(path))
        #expect(WorkMark.directories(besides: crashFile) == ["/other"])
        // A child that another test is starting may still have the file, and with it the lock.
        _ = flock(other, LOCK_UN)
        close(other)
        #expect(WorkMark.directories(besides: crashFile).isEmpty)
        #expect(WorkMark.takeAbandoned(besides: crashFile)?.command == "run")
        #expect(try names().isEmpty)
    }

    @Test func `marks that killed commands left unfinished are removed, and no other file`() throws {
        for name in [".7", "other.mark.new", "notes"] { try workspace.write("", to: "connectors.work/\(name)") }
        #expect(WorkMark.takeAbandoned(besides: crashFile) == nil)
        #expect(try names() == ["notes"])
    }
}
