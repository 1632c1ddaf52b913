// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An image that takes the place of another: copied beside it, checked there, put in place by renaming, and undone if nothing uses it.
///
/// The copy has the mode and the owner of the image that it replaces, and is hidden from the catalog until it is in
/// place. The file with its signature goes with it. Blocks.
package struct ImageReplacement: Sendable {
    /// The file that was given.
    package let source: String
    /// The image that is replaced, without symbolic links.
    package let target: String
    /// The image that is replaced, as the host found it.
    private let candidate: PluginCandidate
    private let files: [Replacement]

    /// One of the files: the image, or its signature.
    private struct Replacement: Sendable {
        var target: String
        /// Whether there is a new file; if not, the old one is removed.
        var isStaged: Bool
        /// Whether there is an old file.
        var isPresent: Bool

        /// The new file, until it is in place.
        var staged: String { hidden("next") }
        /// The old file, until the new one stays.
        var earlier: String { hidden("earlier") }

        private func hidden(_ ending: String) -> String {
            "\(target.parentPath)/.\(target.lastPathComponent).\(ending)"
        }
    }

    /// Copies a file to the directory of the image that it replaces.
    ///
    /// - Throws: `unsupported` for a plugin that has no file of its own; `unreadable`, `not-found` or `storage` with the system's reason.
    package init(of candidate: PluginCandidate, with source: String) throws(ConnectorError) {
        guard case .file = candidate.image else { throw Self.noFile(candidate) }
        self.candidate = candidate
        self.source = source
        target = candidate.path.absolutePath.realPath
        let bytes = try ImageBytes(path: source)
        guard bytes.readAll() else { throw Preflight.changed(source) }
        let signature = source + PluginAdmission.signatureEnding
        let signatureBytes = DirectoryListing.exists(signature) ? try ImageBytes(path: signature) : nil
        var files: [Replacement] = []
        // The signature comes first, so that nothing finds the image with the signature of another.
        for (ending, bytes) in [(PluginAdmission.signatureEnding, signatureBytes), ("", bytes)] {
            let target = target + ending
            let file = Replacement(
                target: target,
                isStaged: bytes != nil,
                isPresent: DirectoryListing.exists(target)
            )
            if let bytes { try Self.copy(bytes, to: file.staged, like: file.target) }
            files.append(file)
        }
        self.files = files
    }

    /// Examines a file as if it were in the place of an image, with the sidecar there.
    ///
    /// - Throws: Why it cannot be read, or is not a plugin; `conflict` if it is another plugin.
    package static func candidate(
        _ file: String,
        replacing candidate: PluginCandidate
    ) throws(ConnectorError) -> PluginCandidate {
        guard case .file = candidate.image else { throw noFile(candidate) }
        let entry = PluginEntry(image: file, sidecar: candidate.sidecar)
        guard let found = entry.candidate else {
            throw entry.error ?? ConnectorError(.notFound, "there is no file \(file)")
        }
        guard found.manifest.id == candidate.manifest.id else {
            throw ConnectorError(
                .conflict,
                "\(file) is the plugin \(found.manifest.id), but \(candidate.path) is \(candidate.manifest.id)",
                fix: "to use another plugin, name it in the configuration and reload"
            )
        }
        return found
    }

    /// Examines the copy as if it were in the place of the image.
    ///
    /// - Throws: As ``candidate(_:replacing:)`` does.
    package func staged() throws(ConnectorError) -> PluginCandidate {
        try Self.candidate(image.staged, replacing: candidate)
    }

    private var image: Replacement {
        files.last ?? Replacement(target: target, isStaged: true, isPresent: true)
    }

    /// The error with the name of the given file in place of the copy's.
    package func shown(_ error: ConnectorError) -> ConnectorError {
        var error = error
        // A sidecar belongs beside the image that is replaced.
        if error.code == .noManifest { error.fix = ManifestReading.none(target).fix }
        return error.replacing(image.staged, with: source)
    }

    // MARK: Steps

    /// Puts the copy in place, and keeps what it replaces until ``finish()``.
    package func put() throws(ConnectorError) {
        // Remove what an interrupted replacement has left, so that undo() does not put it back.
        for file in files { unsafe unlink(file.earlier) }
        do throws(SystemError) {
            for file in files {
                if file.isPresent { try Self.check(unsafe link(file.target, file.earlier)) }
                if file.isStaged {
                    try Self.check(unsafe rename(file.staged, file.target))
                } else if file.isPresent {
                    try Self.check(unsafe unlink(file.target))
                }
            }
            try Directory.synchronize(target.parentPath)
        } catch {
            undo()
            throw Self.storage("\(source) cannot take the place of \(target)", error)
        }
    }

    /// Puts back what was there.
    package func undo() {
        for file in files.reversed() {
            if file.isPresent {
                if DirectoryListing.exists(file.earlier) { unsafe rename(file.earlier, file.target) }
            } else {
                unsafe unlink(file.target)
            }
        }
        try? Directory.synchronize(target.parentPath)
        finish()
    }

    /// Removes everything that is not in place.
    package func finish() {
        for file in files {
            unsafe unlink(file.earlier)
            unsafe unlink(file.staged)
        }
    }

    // MARK: Files

    private static func copy(_ bytes: ImageBytes, to path: String, like model: String) throws(ConnectorError) {
        unsafe unlink(path)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        do throws(SystemError) {
            guard descriptor >= 0 else { throw SystemError() }
            defer { close(descriptor) }
            let isWhole = try unsafe bytes.withAllBytes { content throws(SystemError) in
                try unsafe OutputFile.write(content, to: descriptor)
                return true
            }
            guard isWhole != nil else { throw SystemError(EIO) }
            if let model = FileStamp(path: model) {
                try OutputFile.copyAccess(of: model, to: descriptor)
            } else {
                try check(fchmod(descriptor, 0o644))
            }
            try check(fsync(descriptor))
        } catch {
            unsafe unlink(path)
            throw storage("\(bytes.path) cannot be copied to \(path.parentPath)", error)
        }
    }

    private static func check(_ status: Int32) throws(SystemError) {
        if status != 0 { throw SystemError() }
    }

    private static func storage(_ message: String, _ error: SystemError) -> ConnectorError {
        ConnectorError(
            .storage,
            message,
            fix: error.diskRemedy ?? "let this user write the directory, or replace the file yourself and reload",
            cause: error.description
        )
    }

    private static func noFile(_ candidate: PluginCandidate) -> ConnectorError {
        ConnectorError(
            .unsupported,
            candidate.isLinked
                ? "\(candidate.name) is linked into the application, so it has no image of its own"
                : "the system provides \(candidate.path), so it is not replaced from here",
            fix: "install or link another version, and restart the host"
        )
    }
}

extension ConnectorError {
    /// The error with the name of another file.
    func replacing(_ path: String, with other: String) -> ConnectorError {
        var error = self
        error.message = error.message.replacing(path, with: other)
        error.cause = error.cause?.replacing(path, with: other)
        return error
    }
}
