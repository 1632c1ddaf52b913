// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase

@testable import ConnectorOutboxSQLite

/// Bounds and costs of the file.
extension SQLiteEngine {
    /// Limits the size of the file, as a full disk would.
    func limit(pages: Int) async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in
            try tables.database.run("PRAGMA max_page_count = \(pages)")
        }
    }

    /// The size of the file, in pages.
    func pages() async throws(ConnectorError) -> Int {
        try await query { tables throws(Database.Failure) in
            Int(try tables.statement("PRAGMA page_count").integer() ?? 0)
        }
    }

    /// The number of steps that SQLite's virtual machine has run, by which costs compare on any hardware.
    func steps() async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in tables.steps }
    }
}
