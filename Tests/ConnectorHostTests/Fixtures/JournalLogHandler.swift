// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Logging

/// Notes messages, and the lines, errors, functions and reasons that come with them.
struct JournalLogHandler: LogHandler {
    private let journal: Journal<String>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(_ journal: Journal<String>) {
        self.journal = journal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        journal.note("\(event.message)")
        for key in ["line", "error", "function", "reason"] {
            if let value = event.metadata?[key] { journal.note("\(value)") }
        }
    }
}
