// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorServices
import Synchronization

/// The secrets that a process has read: since when it knows each value, and what the commands last printed.
///
/// Shared by all readings of one configuration. Thread-safe.
final class SecretHistory: Sendable {
    private struct Entry {
        var secret: Secret
        var since: Timestamp
    }

    private let entries = Mutex<[SecretReference: Entry]>([:])

    /// Since when a value is known: from its file, or from its first reading.
    func since(_ reading: SecretReading, of reference: SecretReference) -> Timestamp {
        if let modified = reading.modified { return modified }
        return entries.withLock { entries in
            if let known = entries[reference], known.secret == reading.secret { return known.since }
            let entry = Entry(secret: reading.secret, since: .now)
            entries[reference] = entry
            return entry.since
        }
    }

    /// What a command last printed; nil if it has not run.
    func output(of reference: SecretReference) -> SecretReading? {
        entries.withLock { $0[reference].map { SecretReading(secret: $0.secret) } }
    }
}
