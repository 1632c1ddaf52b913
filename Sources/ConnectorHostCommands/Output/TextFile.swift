// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Writes the files that a command is asked to write.
enum TextFile {
    /// Replaces a file, or what a symbolic link leads to, atomically: a concurrent reader sees either the old or the new one.
    static func replace(_ path: String, with text: String) throws(ConnectorError) {
        // Unlike realpath(3), stat(2) follows no link that another user left in a directory which everybody may write.
        let target = FileStamp(path: path) == nil ? path : path.realPath
        do throws(SystemError) {
            try OutputFile.replace(target, with: Array(text.utf8))
        } catch {
            throw ConnectorError(
                .failed,
                "\(path.excerpt) cannot be written",
                fix: error.diskRemedy ?? "check that its directory exists, and its permissions",
                cause: error.description
            )
        }
    }
}
