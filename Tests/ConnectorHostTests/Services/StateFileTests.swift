// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that several hosts of one user write.
@Suite struct StateFileTests {
    @Test func `many writers at once each write the whole file, and leave nothing else behind`() async throws {
        let scratch = ScratchDirectory()
        let file = StateFile(directory: scratch.path, name: "gate.storage")
        try await withThrowingTaskGroup { group in
            for writer in 0..<8 as Range<UInt8> {
                group.addTask {
                    for _ in 0..<20 { try file.write([UInt8](repeating: writer, count: 10_000)) }
                }
            }
            try await group.waitForAll()
        }
        let bytes = try #require(try file.content()?.bytes)
        #expect(bytes.count == 10_000)
        #expect(Set(bytes).count == 1)
        #expect(scratch.names() == ["gate.storage"])
    }

    @Test func `files that a crash left are removed, and one that is being written is not`() throws {
        let scratch = ScratchDirectory()
        let file = StateFile(directory: scratch.path, name: "gate.storage")
        let (path, descriptor) = try file.makeTemporary()
        scratch.write([1], to: "gate.storage.1f.new")
        scratch.write([1], to: "other.storage.1f.new")
        file.removeLeftovers()
        #expect(scratch.names().contains { path.hasSuffix($0) })
        #expect(scratch.names().count == 2)
        close(descriptor)
        file.removeLeftovers()
        #expect(scratch.names() == ["other.storage.1f.new"])
    }

    @Test func `a new file that cannot take its place is removed`() throws {
        let scratch = ScratchDirectory()
        let directory = StateFile(directory: "\(scratch.path)/gate.storage", name: "inside")
        try directory.write([1])
        let file = StateFile(directory: scratch.path, name: "gate.storage")
        #expect(throws: SystemError.self) { try file.write([1, 2]) }
        #expect(scratch.names() == ["gate.storage"])
    }
}
