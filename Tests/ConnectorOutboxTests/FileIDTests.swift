// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorPlatform
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The identity of a file, which is the same however it is asked for.
@Suite struct FileIDTests {
    @Test func `a path, an entry of a directory and a descriptor lead to the same file`() throws {
        let folder = try Folder()
        let directory = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        let file = unsafe openat(directory, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let identity = try #require(FileID(file))
        #expect(FileID(folder.path + "/file") == identity)
        #expect(FileID("file", in: directory) == identity)
        #expect(FileID(folder.path + "/none") == nil && FileID("none", in: directory) == nil)
        try #require(unsafe write(file, "four", 4) == 4)
        #expect(UntimedStatus("file", in: directory)?.size == 4)
    }

    @Test func `a file on another device is another one`() throws {
        let device = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(device) }
        #expect(FileID("/dev/null") == FileID(device))
        #expect(FileID("/dev/null") != FileID("/"))
    }
}
