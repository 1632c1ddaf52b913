// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorIsolation
internal import ConnectorLoading
internal import ConnectorPlatform
internal import Synchronization

/// The configuration that a host runs.
final class RunningConfiguration: Sendable {
    private struct State {
        var resolved: ResolvedConfiguration
        var digest: String
        var since: Timestamp
        /// How often gates have gone back without a record so far, by path.
        var unrecorded: [String: Int] = [:]
        /// How many configurations ran before, including those with the same files, and those that a gate has gone
        /// back from.
        var revision = 0
        /// Why the file is not in use.
        var errors: [ConnectorError] = []
        /// How changes of the files are noticed; nil if they are not watched.
        var watching: FileWatching?
    }

    private let state: Mutex<State>

    /// Starts with a configuration.
    init(_ resolved: ResolvedConfiguration, at time: Timestamp) {
        state = Mutex(State(resolved: resolved, digest: Self.digest(resolved.configuration), since: time))
    }

    /// The configuration, with the leaves as they run.
    var resolved: ResolvedConfiguration { state.withLock(\.resolved) }

    /// The digest of its files.
    var digest: String { state.withLock(\.digest) }

    /// How many configurations ran before, including those with the same files and other plugins, and those that a
    /// gate has gone back from.
    var revision: Int { state.withLock(\.revision) }

    /// What distinguishes this configuration from another: the digest of its files and, while leaves run with other settings
    /// than these say, a fingerprint of the revision.
    func identity(_ fingerprint: (String) -> String) -> String {
        let (digest, revision, runsAsWritten) = state.withLock { state in
            (state.digest, state.revision, !state.resolved.keepsLeaves && state.unrecorded.isEmpty)
        }
        return runsAsWritten ? digest : "\(digest) \(fingerprint("\(revision)"))"
    }

    /// The configuration's part of the report.
    var report: ConfigurationReport {
        state.withLock { state in
            var report = ConfigurationReport(digest: state.digest, since: state.since, errors: state.errors)
            report.watching = state.watching
            return report
        }
    }

    /// Adds the running configuration, its images and its runners to a report.
    func report(_ report: Report, _ runners: RunnerPool) -> Report {
        var complete = report
        complete.runners = runners.runners.map { RunnerReport($0, in: report) }.sorted { $0.process < $1.process }
        complete.configuration = self.report
        complete.images = ImagesReport(LoadedImages.shared.usage)
        return complete
    }

    /// Replaces the running configuration.
    ///
    /// - Parameters:
    ///   - digest: The digest of its files.
    ///   - errors: Why some connectors stayed as they were.
    func replace(by resolved: ResolvedConfiguration, _ digest: String, at time: Timestamp, errors: [ConnectorError]) {
        state.withLock { state in
            if state.digest != digest { state.since = time }
            state.revision += 1
            (state.resolved, state.digest, state.errors) = (resolved, digest, errors)
        }
    }

    /// The gates that have gone back to earlier instances, and whose leaves do not say so yet.
    var unrecorded: Set<String> { state.withLock { Set($0.unrecorded.keys) } }

    /// Notes that a gate has gone back, which ``rollBack(_:to:because:)`` will record.
    func willRollBack(_ path: String) {
        state.withLock { $0.unrecorded[path, default: 0] += 1 }
    }

    /// Records that a gate has an earlier plan again, and why.
    ///
    /// - Parameters:
    ///   - plan: Nil if another change has come since then, so that there is nothing to record.
    ///   - error: Why it went back.
    func rollBack(_ path: String, to plan: GatePlan?, because error: ConnectorError) {
        state.withLock { state in
            let count = (state.unrecorded[path] ?? 1) - 1
            state.unrecorded[path] = count > 0 ? count : nil
            guard let plan else { return }
            state.resolved.keep(path, as: plan.connector, plan.leaf)
            state.errors.append(error)
            state.revision += 1
        }
    }

    /// Records why the file, which differs, is not in use.
    func note(_ errors: [ConnectorError]) {
        state.withLock { $0.errors = errors }
    }

    /// Records how changes of the files are noticed.
    func note(_ watching: FileWatching) {
        state.withLock { $0.watching = watching }
    }

    /// The SHA-256 of the files of a configuration, in hexadecimal.
    static func digest(_ configuration: Configuration) -> String {
        var hash = SHA256()
        configuration.contents { hash.update($0) }
        return hash.hexadecimal
    }

    /// The SHA-256 of a text, in hexadecimal.
    static func digest(of text: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(text)
        return hash.hexadecimal
    }
}
