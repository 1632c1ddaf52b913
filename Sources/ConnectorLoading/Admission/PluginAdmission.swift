// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorDigest
package import ConnectorManifest
internal import ConnectorPlatform

/// Which images a host may load: those of a lock, and those that a trusted key signed.
///
/// The loader asks about the private copy of the bytes that it then seals and loads, before any of their code runs.
package struct PluginAdmission: Sendable, Equatable {
    /// The lock beside the configuration; nil if there is none.
    package var lock: PluginLock?
    /// The keys that sign plugins; empty if signatures are not checked.
    package var keys: [MinisignKey]
    /// Whether a plugin that none of the keys has signed is refused.
    package var requiresSignature: Bool
    /// The SHA-256 of the image that another process has checked, in hexadecimal; nil for any.
    package var sha256: String?

    /// Admits every image, unless told otherwise.
    package init(
        lock: PluginLock? = nil,
        keys: [MinisignKey] = [],
        requiresSignature: Bool = false,
        sha256: String? = nil
    ) {
        self.lock = lock
        self.keys = keys
        self.requiresSignature = requiresSignature && !keys.isEmpty
        self.sha256 = sha256
    }

    /// Checks an image that was read completely.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that will be loaded.
    ///   - libraries: The libraries that will be loaded with them.
    /// - Throws: `not-locked`, `bad-signature`, `denied` for a plugin that is not signed and must be, or `load-failed` for another image
    ///   than the one that was checked.
    package func check(
        _ candidate: PluginCandidate,
        _ bytes: ImageBytes,
        libraries: [ImageBytes] = []
    ) throws(ConnectorError) {
        if let sha256 {
            guard try bytes.sha256().description == sha256 else { throw Preflight.changed(bytes.path) }
        }
        guard lock != nil || !keys.isEmpty else { return }
        let sidecar = try candidate.sidecarBytes()
        if let lock { try check(candidate, bytes, sidecar, libraries, against: lock) }
        if !keys.isEmpty {
            try checkSignature(of: bytes)
            if let sidecar { try checkSignature(of: sidecar) }
            for library in libraries { try checkSignature(of: library) }
        }
    }

    /// Checks the sidecar of a library that the dynamic linker finds by its name.
    package func check(_ candidate: PluginCandidate) throws(ConnectorError) {
        guard lock != nil || !keys.isEmpty, let sidecar = try candidate.sidecarBytes() else { return }
        if let lock { try check(candidate, sidecar, nil, [], against: lock) }
        if !keys.isEmpty { try checkSignature(of: sidecar) }
    }

    /// Why the files of a plugin may not be loaded as they are now; nil if they may. Blocks while it reads them.
    package func problem(of candidate: PluginCandidate) -> ConnectorError? {
        guard lock != nil || !keys.isEmpty else { return nil }
        do throws(ConnectorError) {
            switch candidate.image {
            case .linked: return nil
            case .library: try check(candidate)
            case .file:
                let bytes = try ImageBytes(path: candidate.path)
                try check(candidate, bytes, libraries: PluginImage(bytes).librariesBeside)
            }
            return nil
        } catch {
            return error
        }
    }

    // MARK: Lock

    private func check(
        _ candidate: PluginCandidate,
        _ bytes: ImageBytes,
        _ sidecar: ImageBytes?,
        _ libraries: [ImageBytes],
        against lock: PluginLock
    ) throws(ConnectorError) {
        let manifest = candidate.manifest
        let digest = try bytes.sha256().description
        guard let entry = lock.entry(of: manifest.id, manifest.version) else {
            let entries = lock.entries(of: manifest.id)
            let locked = entries.map { "version \($0.version) (SHA-256 \($0.sha256))" }.joined(separator: " and ")
            throw refusal(
                entries.isEmpty
                    ? "\(bytes.path) (\(candidate.name), SHA-256 \(digest)) is not in \(lock.file)"
                    : "\(bytes.path) is \(candidate.name) (SHA-256 \(digest)), but \(lock.file) has \(locked)",
                manifest.id,
                isNew: entries.isEmpty
            )
        }
        try compare(bytes.path, digest, entry.sha256, manifest.id, lock)
        if let sidecar { try compare(sidecar.path, sidecar.sha256().description, entry.sidecar, manifest.id, lock) }
        for library in libraries {
            let name = library.path.lastPathComponent
            let locked = entry.dependencies.first { $0.name == name }?.sha256
            try compare(library.path, library.sha256().description, locked, manifest.id, lock)
        }
    }

    private func compare(
        _ path: String,
        _ digest: String,
        _ locked: String?,
        _ id: String,
        _ lock: PluginLock
    ) throws(ConnectorError) {
        guard digest != locked else { return }
        let other = locked.map { "\(lock.file) has \($0)" } ?? "\(lock.file) does not have it"
        throw refusal("\(path) has the SHA-256 \(digest), but \(other)", id, isNew: false)
    }

    private func refusal(_ message: String, _ id: String, isNew: Bool) -> ConnectorError {
        ConnectorError(
            .notLocked,
            message,
            fix: isNew
                ? "if it may be loaded, run connector-host lock"
                : "if the change is wanted, run connector-host lock --update \(id), which shows what it newly wants; "
                    + "else restore the file"
        )
    }
}
