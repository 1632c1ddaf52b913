// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Logging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Decides where plugins with `"isolation": "auto"` run: in this process, until the process dies while it runs them.
///
/// It remembers in private files in the directory `isolation` of the application's state. Each plugin, identified by
/// the digest of its image, has a mark while it is being opened, and a record of its last crash. The directory `loaded`
/// has the digest of the image that each plugin's file last had.
final class Promotions: Sendable {
    private let directory: String?
    /// Where the digests of loaded images are recorded.
    private let loads: String?
    /// How an earlier process ended; nil if it left no note.
    private let crash: CrashNote?
    private let digests = ImageDigests()
    private let logger: Logger

    /// - Parameters:
    ///   - state: The directory of the application's state; nil if there is none, so that nothing can be remembered.
    ///   - crash: How an earlier process ended.
    init(state: String?, crash: CrashNote?, logger: Logger) {
        directory = state.map { "\($0)/isolation" }
        loads = state.map { "\($0)/loaded" }
        self.crash = crash
        self.logger = logger
    }

    /// Why a plugin must run in a runner; nil if it may run in this process. Blocks.
    ///
    /// - Parameters:
    ///   - quiet: How long after the last crash the plugin returns to this process.
    ///   - now: The time of day.
    func promotion(of candidate: PluginCandidate, quiet: Duration, at now: Timestamp) -> Promotion? {
        guard let directory, let digest = digest(of: candidate) else { return nil }
        for crash in crashes(in: directory, digest, candidate) { record(crash, digest) }
        let path = file(directory, digest)
        guard let crash = Self.read(path) else { return nil }
        let end = Timestamp(nanoseconds: crash.at.nanoseconds.saturatingAdding(quiet.nanoseconds))
        guard now >= end else { return Promotion(reason: crash.reason, at: crash.at, until: end) }
        unsafe unlink(path)
        logger.notice(
            "plugin goes back into the host's process",
            metadata: ["plugin": "\(candidate.name)", "reason": "no crash since \(crash.at)"]
        )
        return nil
    }

    /// Marks that a plugin is being opened in this process. Blocks until the mark is on stable storage.
    ///
    /// - Returns: The mark, to be cleared afterwards; nil if none could be made, which is logged, and for a linked
    ///   plugin or one whose file cannot be read.
    func mark(_ candidate: PluginCandidate, at now: Timestamp) -> MarkFile? {
        guard let digest = digest(of: candidate) else { return nil }
        do throws(SystemError) {
            guard let directory else { throw SystemError(ENOENT) }
            try Directory.makePrivate(directory)
            try Directory.checkPrivate(directory)
            let note: JSONValue = [
                "version": 1, "plugin": .string(candidate.name), "process": .integer(Int64(getpid())),
                "at": .string(now.description),
            ]
            let mark = try MarkFile(in: directory, prefix: "\(digest).", note: note, isDurable: true)
            recordLoad(of: candidate, digest, at: now)
            return mark
        } catch {
            logger.warning(
                "a crash while the plugin opens will not be remembered",
                metadata: [
                    "plugin": "\(candidate.name)", "directory": "\(directory ?? "none")", "error": "\(error)",
                ]
            )
            return nil
        }
    }

    /// Remembers that the runner of a promoted plugin has ended, so that the plugin stays in one. Blocks.
    func runnerEnded(_ candidate: PluginCandidate, _ reason: String, at now: Timestamp) {
        guard let digest = digest(of: candidate) else { return }
        record(Crash(reason: reason, at: now), digest)
    }

    // MARK: Files

    /// A crash of a process that a plugin is suspected of.
    private struct Crash {
        var reason: String
        var at: Timestamp
    }

    private func digest(of candidate: PluginCandidate) -> String? {
        switch candidate.image {
        case .file: digests.digest(of: candidate)
        // Several plugins may describe one library of the system, and not all of them need to be at fault.
        case .library(let name): "\(SHA256Digest(of: "library \(name) of \(candidate.name)"))"
        case .linked: nil
        }
    }

    private func file(_ directory: String, _ digest: String) -> String { "\(directory)/\(digest).crash" }

    /// What abandoned marks and the crash note say about a plugin.
    private func crashes(in directory: String, _ digest: String, _ candidate: PluginCandidate) -> [Crash] {
        var crashes: [Crash] = []
        let isNamed = crash.map { isAbout($0, candidate, digest) } ?? false
        for entry in (try? Directory.entries(of: directory)) ?? []
        where entry.name.hasPrefix("\(digest).") && entry.name.hasSuffix(MarkFile.suffix) {
            guard let note = MarkFile.take("\(directory)/\(entry.name)") else { continue }
            guard let at = note["at"]?.string.flatMap({ Timestamp(parsing: $0) }) else { continue }
            // The id alone would not do: in a container, every process that runs a host may have the same one.
            let noted = crash.flatMap { $0.process == note["process"]?.integer && at < $0.end ? $0 : nil }
            // If several plugins were being opened, the note says more reliably than a mark which one it was.
            if noted?.plugin != nil, !isNamed { continue }
            // A mark and the note may report the same crash: the note has the reason, the mark the finer time.
            let reason = isNamed ? noted?.description : nil
            crashes.append(Crash(reason: reason ?? "the process ended while it opened the plugin", at: at))
        }
        if let crash, isNamed { crashes.append(Crash(reason: crash.description, at: crash.time)) }
        return crashes
    }

    /// Whether a note names a plugin and its present image; an image replaced since then is a different one.
    private func isAbout(_ crash: CrashNote, _ candidate: PluginCandidate, _ digest: String) -> Bool {
        guard crash.plugin == candidate.name else { return false }
        if let path = crash.path, path != candidate.absolutePath { return false }
        if let load = lastLoad(of: candidate) { return load.digest == digest && load.at < crash.end }
        // No earlier process recorded which image it loaded. A copy has a time of its own, or that of its original.
        guard let modified = candidate.stamp?.modified else { return true }
        return Timestamp(nanoseconds: UInt64(max(0, modified))) < crash.end
    }

    /// Records which image a plugin's file has. A failure is not reported: the file's time then has to do.
    private func recordLoad(of candidate: PluginCandidate, _ digest: String, at now: Timestamp) {
        // The digest of a system library says nothing about its content.
        guard let loads, case .file = candidate.image else { return }
        let path = candidate.absolutePath
        let record: JSONValue = [
            "version": 1, "path": .string(path), "digest": .string(digest), "at": .string(now.description),
        ]
        try? Directory.makePrivate(loads)
        try? OutputFile.replace("\(loads)/\(SHA256Digest(of: path))", with: record.utf8(), mode: 0o600)
    }

    /// The image that a plugin's file had when a process last loaded it here, and when that was.
    private func lastLoad(of candidate: PluginCandidate) -> (digest: String, at: Timestamp)? {
        guard let loads, case .file = candidate.image, (try? Directory.checkPrivate(loads)) != nil,
            let (json, at) = Self.document("\(loads)/\(SHA256Digest(of: candidate.absolutePath))"),
            let digest = json["digest"]?.string
        else { return nil }
        return (digest, at)
    }

    /// Writes a record, unless there is a later one.
    private func record(_ crash: Crash, _ digest: String) {
        guard let directory else { return }
        let path = file(directory, digest)
        if let known = Self.read(path), known.at >= crash.at { return }
        let json: JSONValue = [
            "version": 1, "reason": .string(crash.reason), "at": .string(crash.at.description),
        ]
        do throws(SystemError) {
            try Directory.makePrivate(directory)
            try Directory.checkPrivate(directory)
            try OutputFile.replace(path, with: json.utf8(), mode: 0o600)
            try Directory.synchronize(directory)
        } catch {
            logger.warning("a crash cannot be remembered", metadata: ["file": "\(path)", "error": "\(error)"])
        }
    }

    private static func read(_ path: String) -> Crash? {
        guard let (json, at) = document(path), let reason = json["reason"]?.string else { return nil }
        return Crash(reason: reason, at: at)
    }

    /// Reads a document of this class, and its time; nil if it is damaged, or there is none.
    private static func document(_ path: String) -> (json: JSONValue, at: Timestamp)? {
        guard let file = try? SmallFile(reading: path, limit: 1 << 16), let json = try? JSONValue(parsing: file.bytes),
            let at = json["at"]?.string.flatMap({ Timestamp(parsing: $0) })
        else { return nil }
        return (json, at)
    }
}

extension CrashNote {
    /// When the process had ended at the latest: the note has whole seconds.
    fileprivate var end: Timestamp { Timestamp(nanoseconds: time.nanoseconds.saturatingAdding(1_000_000_000)) }
}
