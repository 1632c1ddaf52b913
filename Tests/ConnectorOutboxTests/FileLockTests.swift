// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorOutbox
import ConnectorPlatform
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Locks of files, and the descriptors that a child has which was forked without `exec`.
@Suite struct FileLockTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// Opens a file for locking.
    private func opened(_ path: String) throws -> Int32 {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        return file
    }

    @Test func `a copy of the open file does not keep the lock`() throws {
        let path = "\(folder.path)/file"
        let file = try opened(path)
        let copy = dup(file)
        defer { close(copy) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        var lock: FileLock? = FileLock(file)
        #expect(LockedFile.isLocked(path) && lock != nil)
        lock = nil
        #expect(!LockedFile.isLocked(path))
    }

    @Test func `a child that releases its copy does not unlock the file`() throws {
        let path = "\(folder.path)/file"
        let file = try opened(path)
        defer { close(file) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        var child: FileLock? = FileLock(dup(file), owner: getppid())
        #expect(child != nil)
        child = nil
        #expect(LockedFile.isLocked(path))
    }

    @Test func `the right to deliver is free once it is given up, whoever has a copy of its file`() throws {
        var lock: DeliveryLock? = try DeliveryLock(folder.path)
        let file = try #require(FileID("\(folder.path)/lock"))
        let descriptor = try #require((0..<4096 as Range<Int32>).first { FileID($0) == file })
        let copy = dup(descriptor)
        defer { close(copy) }
        #expect(lock != nil)
        lock = nil
        #expect(!DeliveryLock.isHeld(folder.path))
        _ = try DeliveryLock(folder.path)
    }
}
