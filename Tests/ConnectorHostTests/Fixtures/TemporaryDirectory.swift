// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A directory that is gone after the test.
final class TemporaryDirectory {
    /// Without a slash at the end.
    let path: String
    /// The paths of what was written into it.
    private(set) var files: [String] = []

    /// Takes an empty directory that exists.
    init(path: String) {
        self.path = path
    }

    /// Makes a directory for this user alone; ``remove()`` takes it away.
    init() throws {
        path = "/tmp/connector-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        try #require(unsafe mkdir(path, 0o700) == 0)
    }

    /// Removes it with the files that were written into it.
    func remove() {
        for file in files { _ = unsafe unlink(file) }
        _ = unsafe rmdir(path)
    }

    /// Writes a file into it.
    ///
    /// - Returns: Its path.
    @discardableResult
    func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// Writes a file of any bytes into it.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode))
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        files.append(file)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor,
                    buffer.baseAddress.map { unsafe $0 + written },
                    buffer.count - written,
                    off_t(written)
                )
            }
            try #require(count > 0)
            written += count
        }
        try #require(fchmod(descriptor, mode_t(mode)) == 0)
        return file
    }
}

/// Runs code with a directory of its own.
func withTemporaryDirectory(_ body: (TemporaryDirectory) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try body(directory)
}
