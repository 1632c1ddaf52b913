// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorPlatform
internal import Synchronization

/// The configuration that a host runs.
final class RunningConfiguration: Sendable {
    private struct State {
        var resolved: ResolvedConfiguration
        var digest: String
        var since: Timestamp
        /// How many configurations there were before, those with the same files included.
        var revision = 0
        /// Why the file is not in use.
        var errors: [ConnectorError] = []
    }

    private let state: Mutex<State>

    /// Begins with a configuration.
    init(_ resolved: ResolvedConfiguration, at time: Timestamp) {
        state = Mutex(State(resolved: resolved, digest: Self.digest(resolved.configuration), since: time))
    }

    /// The configuration, with the leaves as they run.
    var resolved: ResolvedConfiguration { state.withLock(\.resolved) }

    /// The digest of its files.
    var digest: String { state.withLock(\.digest) }

    /// How many configurations there were before, those with the same files and other plugins included.
    var revision: Int { state.withLock(\.revision) }

    /// What the report says of it.
    var report: ConfigurationReport {
        state.withLock { ConfigurationReport(digest: $0.digest, since: $0.since, errors: $0.errors) }
    }

    /// Adds what runs to a report.
    func report(_ report: Report) -> Report {
        var complete = report
        complete.configuration = self.report
        return complete
    }

    /// Replaces it.
    ///
    /// - Parameter errors: Why some connectors go on as they were.
    func replace(by resolved: ResolvedConfiguration, at time: Timestamp, errors: [ConnectorError]) {
        let digest = Self.digest(resolved.configuration)
        state.withLock { state in
            if state.digest != digest { state.since = time }
            state.revision += 1
            (state.resolved, state.digest, state.errors) = (resolved, digest, errors)
        }
    }

    /// Records why the file, which differs, is not in use.
    func note(_ errors: [ConnectorError]) {
        state.withLock { $0.errors = errors }
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
