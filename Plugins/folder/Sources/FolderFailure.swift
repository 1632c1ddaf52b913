// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Converts errno(3) to the vocabulary that all vendors share.
enum FolderFailure {
    /// Something else is in the directory's place; the next probe opens the new one.
    static let moved = PluginError(.unavailable, "the directory was removed or replaced while it was open")

    /// The error for a number.
    ///
    /// - Parameters:
    ///   - message: What failed, with the path.
    ///   - number: The number; by default that of the last call.
    static func error(_ message: String, _ number: Int32 = errno) -> PluginError {
        let status: PluginStatus =
            switch number {
            case ENOENT: .notFound
            case ENOTDIR, EISDIR, EEXIST, ENOTEMPTY: .conflict
            case EACCES, EPERM, EROFS, ELOOP: .denied
            case ENAMETOOLONG, EINVAL, EILSEQ: .invalid
            case EFBIG: .tooLarge
            case ENOTSUP: .unsupported
            default: .unavailable
            }
        let words =
            switch number {
            case ENOSPC: "the disk is full"
            case EDQUOT: "this user's share of the disk is used up"
            case ELOOP: "a symbolic link is in the way, which is not followed"
            case ENOTDIR: "a file or a symbolic link is in the way where a directory must be"
            case EISDIR, ENOTEMPTY: "a directory is in the way"
            default: unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
            }
        return PluginError(status, "\(message): \(words)", domain: "errno", detail: number)
    }
}
