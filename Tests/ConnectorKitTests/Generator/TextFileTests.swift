// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

@testable internal import connector_manifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The files that the generator writes.
@Suite struct TextFileTests {
    @Test(arguments: [0, 1000, Manifest.sizeLimit * 2])
    func `a file that has the text already is left alone, however long it is`(size: Int) throws {
        var template = Array("/tmp/connector-text.XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unsafe unlink(path) }
        func seconds() -> Int {
            var status = stat()
            unsafe fstat(descriptor, &status)
            #if canImport(Glibc) || canImport(Musl)
                return status.st_mtim.tv_sec
            #else
                return status.st_mtimespec.tv_sec
            #endif
        }
        let text = String(repeating: "x", count: size)
        try TextFile.write(text, to: path)
        let time = timespec(tv_sec: 1, tv_nsec: 0)
        try #require(unsafe futimens(descriptor, [time, time]) == 0)
        try TextFile.write(text, to: path)
        #expect(seconds() == 1)
        for other in [text + "y", text + text + "y"] {
            try TextFile.write(other, to: path)
            #expect(try TextFile.read(path, limit: 8 << 20) == Array(other.utf8))
        }
        try TextFile.write(text, to: path)
        #expect(try TextFile.read(path, limit: 8 << 20) == Array(text.utf8))
    }
}
