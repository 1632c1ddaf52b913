// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// The longest wait before the next attempt that a plugin can ask for: one day, in nanoseconds.
    package static let longestRetryAfter: UInt64 = 86_400_000_000_000
}

extension ConnectorError.Code {
    /// The code that a plugin, or the runner that carries it, gives as a text.
    ///
    /// A code becomes a label of metrics, and callers act on it. So any text but these is ``failed``: those that a plugin's function can
    /// return, and those of a plugin that cannot be loaded. The others are the host's own: what it says of a runner that has ended, of
    /// its files and of its outbox. A plugin gives a call up on its own, whatever it says about that.
    package init(ofPlugin text: String) {
        let code = Self(rawValue: text)
        self = code == .cancelled ? .aborted : Self.ofPlugins.contains(code) ? code : .failed
    }

    private static let ofPlugins: Set<Self> = Set(returnable).union([
        .aborted, .misbehaved, .notFound, .unreadable, .syntax, .notELF, .truncated, .wrongArchitecture, .executable,
        .missingDependency, .missingSymbol, .missingSymbolVersion, .noManifest, .invalidManifest, .manifestMismatch,
        .unsupportedABI, .symbolAbsent, .signatureMismatch, .loadFailed,
    ])
}
