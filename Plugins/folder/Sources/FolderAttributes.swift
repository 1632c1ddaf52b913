// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

#if canImport(Darwin)
    internal import Darwin
#else
    internal import CLinux
    #if canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif
#endif

/// Media type and digest, which files carry as extended attributes (xattr(7)).
///
/// They are written before the file gets its name, so that file and attributes appear together, and they move with the
/// file.
enum FolderAttributes {
    /// The media type's attribute, named by freedesktop.org.
    private static let contentType = "user.mime_type"
    /// The attribute with the digest, and with the size and time of the content that it belongs to: another program may
    /// write the file later.
    private static let digest = "user.connector.sha256"

    /// Stores the media type and the digest of a file.
    ///
    /// - Throws: `unsupported` if the file system cannot keep the media type. A digest that it cannot keep is dropped.
    static func set(contentType: String?, digest: String, of handle: FolderHandle) throws(PluginError) {
        let stamp = "\(digest) \(try handle.status().stamp)"
        if !set(Self.digest, stamp, of: handle), errno != ENOTSUP {
            throw FolderFailure.error("the digest cannot be stored")
        }
        guard let contentType else { return }
        guard set(Self.contentType, contentType, of: handle) else {
            throw FolderFailure.error("the content type cannot be stored as an extended attribute of the file")
        }
    }

    /// The media type; nil if there is none.
    static func contentType(of handle: FolderHandle) -> String? {
        get(contentType, of: handle).flatMap { $0.utf8.allSatisfy(\.isPrintable) ? $0 : nil }
    }

    /// The digest; nil if there is none, or if it belongs to other content.
    static func digest(of handle: FolderHandle, _ status: stat) -> String? {
        guard let parts = get(digest, of: handle)?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[1] == status.stamp
        else { return nil }
        let digest = String(parts[0])
        return (try? FileEntry.checkDigest(digest)).map { digest }
    }

    private static func set(_ name: String, _ value: String, of handle: FolderHandle) -> Bool {
        let value = Array(value.utf8)
        #if canImport(Darwin)
            return unsafe fsetxattr(handle.descriptor, name, value, value.count, 0, 0) == 0
        #else
            return unsafe fsetxattr(handle.descriptor, name, value, value.count, 0) == 0
        #endif
    }

    private static func get(_ name: String, of handle: FolderHandle) -> String? {
        var value = [UInt8](repeating: 0, count: 512)
        #if canImport(Darwin)
            let count = unsafe fgetxattr(handle.descriptor, name, &value, value.count, 0, 0)
        #else
            let count = unsafe fgetxattr(handle.descriptor, name, &value, value.count)
        #endif
        return count > 0 ? String(validating: value.prefix(count), as: UTF8.self) : nil
    }
}

extension stat {
    /// Size and time of the content, but not the inode number, so that the digest stays valid in a copy that keeps
    /// times and attributes.
    fileprivate var stamp: String { "\(st_size) \(modified.nanoseconds)" }
}
