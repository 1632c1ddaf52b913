// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A new directory that only this user can enter. It is removed with its contents when the value is destroyed, unless
/// it is kept.
package struct PrivateDirectory: ~Copyable {
    /// The directory's path.
    package let path: String
    /// The files created in it, in order.
    private var files: [String] = []
    private var folders: [String] = []

    private let isKept: Bool

    /// Creates a directory below another one, which must exist unless the new one is kept.
    ///
    /// - Parameter isKept: Whether the directory stays after the value is destroyed.
    package init(below parent: String, isKept: Bool = false) throws(DynamicLinker.Failure) {
        if isKept { unsafe mkdir(parent, 0o700) }
        do throws(SystemError) {
            path = try TemporaryDirectory.make("connector", below: parent)
        } catch {
            let isFull = [ENOSPC, EDQUOT].contains(error.number)
            throw DynamicLinker.Failure(
                text: "no private directory can be made below \(parent): \(error)",
                fix: (isFull ? error.diskRemedy : nil)
                    ?? "set \(isKept ? PluginLoader.keepVariable : "TMPDIR") to a directory that this user may write in"
            )
        }
        self.isKept = isKept
    }

    /// Writes a file, and creates the folders in its path.
    ///
    /// - Parameter relativePath: The path in the directory, without `..`.
    /// - Returns: The file's path.
    package mutating func add(_ bytes: UnsafeRawBufferPointer, as relativePath: String) throws(DynamicLinker.Failure)
        -> String
    {
        var folder = path
        for part in relativePath.split(ascii: "/").dropLast() {
            folder += "/\(part)"
            if unsafe mkdir(folder, 0o700) == 0 {
                folders.append(folder)
            } else if errno != EEXIST {
                let error = SystemError()
                throw DynamicLinker.Failure(text: "\(folder) cannot be made: \(error)", fix: error.diskRemedy)
            }
        }
        let file = "\(folder)/\(relativePath.lastPathComponent)"
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o500)
        guard descriptor >= 0 else { throw Self.failure(SystemError(), of: file) }
        defer { close(descriptor) }
        files.append(file)
        do throws(SystemError) {
            try unsafe OutputFile.write(bytes, to: descriptor)
        } catch {
            throw Self.failure(error, of: file)
        }
        return file
    }

    private static func failure(_ error: SystemError, of file: String) -> DynamicLinker.Failure {
        DynamicLinker.Failure(
            text: "\(file) cannot be written: \(error)",
            fix: error.diskRemedy ?? error.limitRemedy
        )
    }

    deinit {
        if isKept { return }
        for file in files { unsafe unlink(file) }
        for folder in folders.reversed() { unsafe rmdir(folder) }
        unsafe rmdir(path)
    }
}
