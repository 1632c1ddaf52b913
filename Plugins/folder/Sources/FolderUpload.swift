// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorDigest
internal import ConnectorKit
internal import ConnectorManifest

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// A file that grows beside the others until it is put in place. If it never is, it is removed with the last reference.
///
/// The open file holds a lock, which shows others that it is not a leftover. Used on one thread at a time.
final class FolderUpload {
    /// The upload's id, and the name of its file.
    let id: String
    /// When a call last used it, in nanoseconds on the monotonic clock.
    var usedAt: UInt64 = 0
    private let request: FileUploadRequest
    private let root: FolderRoot
    private let partSize: Int
    private let handle: FolderHandle
    private var size: UInt64 = 0
    private var hash = SHA256()
    /// Where the last part begins, and the hash of everything before it: the part may arrive again.
    private var last: (start: UInt64, hash: SHA256)?
    private var isInPlace = false
    /// Why the disk may lack what was written. The system reports that once only, so every further attempt fails for the same reason.
    private var failure: PluginError?

    init(_ request: FileUploadRequest, in root: FolderRoot, partSize: Int) throws(PluginError) {
        _ = try FolderRoot.segments(of: request.path)
        self.request = request
        self.root = root
        self.partSize = partSize
        id = RandomIdentifier.uuid()
        let message = "\"\(request.path)\" cannot be put"
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        handle = try FolderHandle(unsafe openat(root.uploads.descriptor, id, flags, 0o600), message)
        // Another process that opens the directory right now may have mistaken the file for a leftover.
        guard flock(handle.descriptor, LOCK_EX | LOCK_NB) == 0, try handle.status().st_nlink == 1 else {
            throw PluginError(.unavailable, "\(message): another process cleans up; try again", isRetryable: true)
        }
    }

    deinit {
        if !isInPlace { _ = unsafe unlinkat(root.uploads.descriptor, id, 0) }
    }

    /// Adds a part, or writes the last one again.
    func write(_ content: [UInt8], at offset: UInt64) throws(PluginError) {
        let isAgain = last.map { $0.start == offset && size - offset == UInt64(content.count) } ?? false
        guard isAgain || offset == size else {
            throw PluginError(.invalid, "the part begins at byte \(offset); the next one begins at \(size)")
        }
        guard offset % UInt64(partSize) == 0, content.count <= partSize else {
            throw PluginError(
                .invalid,
                "the part of \(content.count) bytes at byte \(offset) is no part; all but the last have \(partSize) bytes"
            )
        }
        var before = isAgain ? last?.hash ?? hash : hash
        try append(content, at: offset)
        last = (offset, before)
        before.update(content)
        (hash, size) = (before, offset + UInt64(content.count))
    }

    private func append(_ content: [UInt8], at offset: UInt64) throws(PluginError) {
        var done = 0
        let isWritten = unsafe content.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            while done < bytes.count {
                let result = unsafe pwrite(
                    handle.descriptor,
                    start + done,
                    bytes.count - done,
                    off_t(clamping: offset) + off_t(done)
                )
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return false }
                done += result
            }
            return true
        }
        guard isWritten else { throw FolderFailure.error("\"\(request.path)\" cannot be written") }
    }

    /// Puts the file in its place.
    func complete(size: UInt64, digest: String?) throws(PluginError) -> FileEntry {
        let found = hash.hexadecimal
        guard size == self.size, digest == nil || digest == found else {
            throw PluginError(
                .invalid,
                "the upload has \(self.size) bytes with the SHA-256 \(found), not \(size) with \(digest ?? "any")"
            )
        }
        if let failure { throw failure }
        let message = "\"\(request.path)\" cannot be put"
        // A part that failed halfway and was not repeated may have left bytes past the end.
        guard ftruncate(handle.descriptor, off_t(clamping: size)) == 0 else { throw FolderFailure.error(message) }
        try FolderAttributes.set(contentType: request.contentType, digest: found, of: handle)
        guard fsync(handle.descriptor) == 0 else {
            var failure = FolderFailure.error(message)
            failure.isRetryable = false
            self.failure = failure
            throw failure
        }
        let (directories, name) = try FolderRoot.segments(of: request.path)
        let parent: FolderHandle
        do throws(PluginError) {
            parent = try root.directory(directories, making: true, message)
        } catch {
            // A directory that was just created has been removed.
            if error.status == .notFound { throw PluginError(.unavailable, error.message, domain: error.domain) }
            throw error
        }
        try place(as: name, in: parent, message)
        isInPlace = true
        do throws(PluginError) {
            try root.sync(parent, message)
        } catch {
            failure = error
            throw error
        }
        return try FolderFile(path: request.path, handle: handle).entry()
    }

    /// Gives the file its name if the condition is met.
    private func place(as name: String, in parent: FolderHandle, _ message: String) throws(PluginError) {
        let uploads = root.uploads.descriptor
        switch request.condition {
        case .any: break
        case .absent:
            // Linking fails atomically if a file exists.
            if unsafe linkat(uploads, id, parent.descriptor, name, 0) == 0 {
                _ = unsafe unlinkat(uploads, id, 0)
                return
            }
            // FAT and similar file systems have no links. There, as with a tag, another process may act between the
            // check and the rename.
            let hasLinks = errno != EPERM && errno != ENOTSUP
            if hasLinks, errno != EEXIST { throw FolderFailure.error(message) }
            guard !hasLinks, try root.status(of: name, in: parent) == nil else {
                throw PluginError(.conflict, "there is a file \"\(request.path)\" already")
            }
        case .tag(let tag):
            guard try root.status(of: name, in: parent)?.tag == tag else {
                throw PluginError(.conflict, "\"\(request.path)\" no longer has the tag")
            }
        }
        guard unsafe renameat(uploads, id, parent.descriptor, name) == 0 else { throw FolderFailure.error(message) }
    }
}
