// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// The files that this process has loaded images from, in the state that they had then.
///
/// Once the file is another one, a gate whose plan is still of the earlier state gets the image that it had: what runs changes with a
/// reload, not with a file.
final class LoadedFiles: Sendable {
    /// The table of this process.
    static let shared = LoadedFiles()

    private struct State: Hashable {
        var path: String
        var identity: FileIdentity
    }

    private let files = Mutex<[State: LoadedImage]>([:])

    /// Records what was loaded.
    func add(_ image: LoadedImage, path: String, identity: FileIdentity) {
        files.withLock { $0[State(path: path, identity: identity)] = image }
    }

    /// The image of a candidate whose file has changed since it was loaded; nil if it has not, or was never loaded. Blocks.
    func file(of candidate: PluginCandidate) -> PluginLoader.LoadedFile? {
        guard let identity = candidate.identity,
            let image = files.withLock({ $0[State(path: candidate.path, identity: identity)] }),
            (try? ImageBytes(path: candidate.path))?.identity != identity
        else { return nil }
        // The addresses in its table were checked when it was loaded.
        return (image, nil)
    }
}
