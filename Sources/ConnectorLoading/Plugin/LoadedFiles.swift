// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// The files from which this process has loaded images, each in its state at that time.
///
/// After a file changes, a gate whose plan is of the earlier state still gets the earlier image: only a reload changes
/// what runs, not a changed file.
final class LoadedFiles: Sendable {
    /// The table of this process.
    static let shared = LoadedFiles()

    /// Values by a file's path and its state.
    private typealias ByState<Value> = NamedValues<FileStamp?, Value>

    /// Everything that decides whether a file may be loaded, and what is loaded then.
    struct Request: Sendable, Equatable {
        private let path: String
        /// The image and its sidecar, and the signatures of both if any is checked; nil for each that does not exist.
        private let files: [FileStamp?]
        private let manifest: Manifest
        private let embeddedText: [UInt8]?
        private let admission: PluginAdmission

        init(_ candidate: PluginCandidate, _ admission: PluginAdmission) {
            path = candidate.path
            let paths = [candidate.path, candidate.sidecar].compactMap(\.self)
            let signatures = admission.keys.isEmpty ? [] : paths.map { $0 + PluginAdmission.signatureEnding }
            files = (paths + signatures).map { FileStamp(path: $0) }
            (manifest, embeddedText) = (candidate.manifest, candidate.embeddedText)
            self.admission = admission
        }
    }

    /// How a load has ended.
    private struct Outcome: Sendable {
        let request: Request
        let result: Result<LoadedImage, ConnectorError>
        /// Numbers the loads of the file.
        let number: Int
    }

    /// Lets one thread at a time load a file. Not a `Mutex`, whose waiters would spin.
    private final class PendingLoad: Sendable {
        let last = Monitor<Outcome?>(nil)
        /// How many loads have ended.
        let count = Atomic(0)
    }

    private let files = Mutex(ByState<LoadedImage>())
    private let loads = Mutex(ByState<PendingLoad>())

    /// Records what was loaded.
    func add(_ image: LoadedImage, path: String, stamp: FileStamp) {
        files.withLock { $0[path, stamp] = image }
    }

    /// The image of a candidate whose file has changed since it was loaded; nil if it has not, or was never loaded. Blocks.
    func file(of candidate: PluginCandidate) -> PluginLoader.LoadedFile? {
        guard let stamp = candidate.stamp,
            let image = files.withLock({ $0[candidate.path, stamp] }),
            (try? ImageBytes(path: candidate.path))?.stamp != stamp
        else { return nil }
        // The addresses in its table were checked when it was loaded.
        return (image, nil)
    }

    /// Loads a candidate's file; one thread at a time loads a given state of a file. Blocks.
    ///
    /// However many gates of an image open at once, its bytes are read, checked and loaded once: another gate gets the
    /// loaded image if nothing on which it depends has changed since, and the error if it waited for that load.
    ///
    /// - Parameter load: Reads, checks and loads the file.
    func load(
        _ candidate: PluginCandidate,
        _ admission: PluginAdmission,
        _ load: () throws(ConnectorError) -> PluginLoader.LoadedFile
    ) throws(ConnectorError) -> PluginLoader.LoadedFile {
        let pending = loads.withLock { loads in
            if let known = loads[candidate.path, candidate.stamp] { return known }
            let pending = PendingLoad()
            loads[candidate.path, candidate.stamp] = pending
            return pending
        }
        let before = pending.count.load(ordering: .relaxed)
        return try pending.last.withLock { last throws(ConnectorError) in
            // Read the stamps before the bytes: a file that changes after this counts as another one at the next load.
            let request = Request(candidate, admission)
            if let last, last.request == request {
                switch last.result {
                case .success(let image): return (image, MappedCode())
                case .failure(let error): if last.number > before { throw error }
                }
            }
            func end(_ result: Result<LoadedImage, ConnectorError>) {
                let number = pending.count.add(1, ordering: .relaxed).newValue
                last = Outcome(request: request, result: result, number: number)
            }
            do throws(ConnectorError) {
                let file = try load()
                end(.success(file.image))
                return file
            } catch {
                end(.failure(error))
                throw error
            }
        }
    }
}
