// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Adding rows to the new file, events at their right positions.
extension Salvage {
    /// Adds a row to the new file, unless it has one with its key. The key of an event may be damaged: see ``correctPositions()``.
    func add(_ values: [SalvagedValue], to table: SalvagedTable) throws(Database.Failure) {
        progress.noteRow()
        guard var row = table.sound(values) else { return }
        try insert(row, into: table)
        guard table == .events, tables.database.changes == 0, case .integer(let position) = row[0],
            case .text(let id) = row[1]
        else { return }
        // If two events claim a position, that of one of them is damaged.
        guard try !correct(position) else { return try insert(row, into: table, or: "REPLACE") }
        guard let listed = listedPosition(of: id), listed != position else { return }
        row[0] = .integer(listed)
        try insert(row, into: table)
    }

    private func insert(
        _ row: [Statement.Value],
        into table: SalvagedTable,
        or resolution: String = "IGNORE"
    ) throws(Database.Failure) {
        let marks = row.map { _ in "?" }.joined(separator: ", ")
        let columns = table.columns.joined(separator: ", ")
        try tables.statement("INSERT OR \(resolution) INTO \(table)(\(columns)) VALUES(\(marks))").run(row)
    }

    // MARK: Positions

    /// The position that the index of ids has for an event; nil if it cannot be read.
    private func listedPosition(of id: String) -> Int64? {
        let select = "SELECT position FROM events INDEXED BY sqlite_autoindex_events_1 WHERE id = ?"
        return try? damaged?.statement(select).integer(.text(id), in: Schema.positions)
    }

    /// The columns by which a row tells whether it is intact.
    private static let selectEvents = "SELECT position, id, lane, created, payload, checksum FROM events"

    /// Moves a damaged event to the position that the index of ids has for it, if that is free: its own may be what is damaged.
    ///
    /// - Returns: Whether the event at the position is damaged.
    private func correct(_ position: Int64) throws(Database.Failure) -> Bool {
        var damagedID: String?
        try tables.statement("\(Self.selectEvents) WHERE position = ?").run(.integer(position)) { row in
            if !row.isIntact() { damagedID = row.text(1) }
        }
        guard let damagedID else { return false }
        guard let listed = listedPosition(of: damagedID) else { return true }
        try tables.statement("UPDATE OR IGNORE events SET position = ? WHERE position = ?")
            .run(.integer(listed), .integer(position))
        return true
    }

    /// Moves all damaged events that are not where the index of ids has them.
    func correctPositions() throws(Database.Failure) {
        var positions: [Int64] = []
        try tables.statement(Self.selectEvents).run { row throws(Database.Failure) in
            if !row.isIntact() { positions.append(try row.integer(0, in: Schema.positions)) }
        }
        for position in positions { _ = try correct(position) }
    }
}
