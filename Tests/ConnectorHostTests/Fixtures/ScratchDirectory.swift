// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory for the files of one test, removed at its end.
final class ScratchDirectory: Sendable {
    /// Absolute.
    let path: String

    /// Makes one for this user alone.
    init() {
        var template = Array("/tmp/connector-test-XXXXXX".utf8CString)
        guard let path = unsafe mkdtemp(&template) else { fatalError("no directory can be made in /tmp") }
        unsafe self.path = String(cString: path)
    }

    deinit {
        remove()
    }

    /// Removes it with everything in it, before its last reference would.
    func remove() {
        if unsafe access(path, F_OK) == 0 { Fixtures.run("rm -rf '\(path)'") }
    }

    /// The names of what is in it.
    func names(in folder: String = "") -> [String] { entries(of: path + folder) }

    /// The bits of a file's mode that say who may do what.
    func permissions(of name: String) -> mode_t {
        var status = stat()
        guard unsafe lstat("\(path)/\(name)", &status) == 0 else { return 0 }
        return status.st_mode & 0o777
    }

    /// Writes a file with a mode.
    ///
    /// - Returns: Its path.
    @discardableResult
    func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// Writes a file of any bytes with a mode.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        try Fixtures.write(bytes, to: file)
        try #require(unsafe chmod(file, mode_t(mode)) == 0)
        return file
    }

    /// Writes a file, over what is there.
    func write(_ bytes: [UInt8], to name: String) {
        let file = unsafe fopen("\(path)/\(name)", "w")
        guard let file = unsafe file else { return }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
    }

    private func entries(of folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Runs code with a directory of its own.
func withTemporaryDirectory(_ body: (ScratchDirectory) throws -> Void) throws {
    let directory = ScratchDirectory()
    defer { directory.remove() }
    try body(directory)
}
