// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory for the files of one test, removed at its end.
final class ScratchDirectory: Sendable {
    /// Absolute.
    let path: String

    /// Makes one.
    init() {
        var template = Array("/tmp/connector-test-XXXXXX".utf8CString)
        path = unsafe mkdtemp(&template).map { unsafe String(cString: $0) } ?? "/tmp"
    }

    deinit {
        remove(below: path)
    }

    /// The names of what is in it.
    func names(in folder: String = "") -> [String] { entries(of: path + folder) }

    /// The bits of a file's mode that say who may do what.
    func permissions(of name: String) -> mode_t {
        var status = stat()
        guard unsafe lstat("\(path)/\(name)", &status) == 0 else { return 0 }
        return status.st_mode & 0o777
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

    private func remove(below folder: String) {
        for name in entries(of: folder) {
            let path = "\(folder)/\(name)"
            if unsafe unlink(path) != 0 { remove(below: path) }
        }
        unsafe rmdir(folder)
    }
}
