// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A table that is salvaged from a damaged file row by row.
enum SalvagedTable: String, CaseIterable {
    case routes, targets, cursors, events, retries, dead, skipped, attempts

    /// The columns to copy, in the order of a row's values. Counters are recomputed; those of routes and cursors are copied before, because
    /// they show what is missing.
    var columns: [String] {
        switch self {
        case .routes: ["route", "targets", "collected", "count", "bytes", "next"]
        case .targets: ["target", "path", "delivered", "dropped", "last"]
        case .cursors: ["target", "route", "position", "count", "bytes"]
        case .events: ["position", "id", "lane", "created", "payload", "checksum"]
        case .retries: ["target", "position", "due", "attempts", "since", "renewed"]
        case .dead, .skipped: ["target", "position"]
        case .attempts: ["target", "first", "last", "at", "until", "count", "code", "reason"]
        }
    }

    /// The columns that do not exist in files of earlier versions.
    var laterColumns: Set<String> {
        switch self {
        case .routes: ["next"]
        case .events: ["checksum"]
        case .retries: ["since", "renewed"]
        default: []
        }
    }

    /// The order of the table's rows in the file; `%` stands for the direction of the first column.
    var key: String {
        switch self {
        case .routes: "route"
        case .targets: "target"
        case .events: "position"
        case .cursors: "target %, route"
        case .retries, .dead, .skipped: "target %, position"
        case .attempts: "rowid"
        }
    }

    /// An index that contains the essential columns of the table's rows; nil for none.
    var index: (name: String, columns: [String], order: String)? {
        switch self {
        case .routes: ("sqlite_autoindex_routes_1", ["route", "targets", "NULL", "NULL", "NULL", "NULL"], "targets")
        case .targets: ("sqlite_autoindex_targets_1", ["target", "path", "0", "0", "NULL"], "path")
        case .retries: ("retries_by_time", ["target", "position", "due", "1", "0", "NULL"], "target, due")
        case .dead: ("dead_by_position", ["target", "position"], "position")
        default: nil
        }
    }

    /// Whether the index lacks values that a page of the table may still have, and that nothing else has.
    var hasPartialIndex: Bool { self == .routes || self == .targets }

    /// A count; -1 for an unusable one.
    private static func count(_ value: SalvagedValue) -> Statement.Value {
        .integer(value.integer(in: Schema.counts) ?? -1)
    }

    /// The row with invalid values replaced by defaults; nil if it is unusable.
    ///
    /// - Parameter row: The values of ``columns``.
    func sound(_ row: [SalvagedValue]) -> [Statement.Value]? {
        guard row.count == columns.count else { return nil }
        switch self {
        case .routes:
            guard let route = row[0].integer(in: Schema.routes), let targets = row[1].text else { return nil }
            let positions = Schema.positions(of: route)
            return [
                .integer(route), .text(targets), .integer(row[2].integer(in: positions) ?? positions.lowerBound),
                Self.count(row[3]), Self.count(row[4]), .integer(row[5].integer(in: Schema.sequences) ?? 1),
            ]
        case .targets:
            guard let target = row[0].integer(in: Schema.counts), let path = row[1].text, !path.isEmpty else {
                return nil
            }
            let counts = [row[2], row[3]].map { Statement.Value.integer($0.integer(in: Schema.counts) ?? 0) }
            let last = row[4].integer(in: Schema.times).map(Statement.Value.integer) ?? .null
            return [.integer(target), .text(path)] + counts + [last]
        case .cursors:
            guard let target = row[0].integer(in: Schema.counts), let route = row[1].integer(in: Schema.routes),
                let position = row[2].integer(in: Schema.positions(of: route))
            else { return nil }
            return [.integer(target), .integer(route), .integer(position), Self.count(row[3]), Self.count(row[4])]
        case .events:
            guard let position = row[0].integer(in: Schema.positions), let id = row[1].text, !id.isEmpty else {
                return nil
            }
            // The checksum detects damage in the other values.
            return [
                .integer(position), .text(id), .text(row[2].text ?? ""),
                .integer(row[3].integer(in: Schema.times) ?? 0), .blob(row[4].bytes ?? []),
                row[5].integer(in: Int64.min...Int64.max).map(Statement.Value.integer) ?? .null,
            ]
        case .retries:
            guard let target = row[0].integer(in: Schema.counts), let position = row[1].integer(in: Schema.positions)
            else { return nil }
            return [
                .integer(target), .integer(position), .integer(row[2].integer(in: Schema.times) ?? 0),
                .integer(row[3].integer(in: 1...1_000_000) ?? 1), .integer(row[4].integer(in: Schema.times) ?? 0),
                row[5].integer(in: Schema.times).map(Statement.Value.integer) ?? .null,
            ]
        case .dead, .skipped:
            guard let target = row[0].integer(in: Schema.counts), let position = row[1].integer(in: Schema.positions)
            else { return nil }
            return [.integer(target), .integer(position)]
        case .attempts:
            guard let target = row[0].integer(in: Schema.counts), let first = row[1].integer(in: Schema.positions),
                let last = row[2].integer(in: Schema.positions), first <= last
            else { return nil }
            let times = [row[3], row[4]].map { Statement.Value.integer($0.integer(in: Schema.times) ?? 0) }
            return [.integer(target), .integer(first), .integer(last)] + times + [
                .integer(row[5].integer(in: Schema.counts) ?? 1), .text(orNull: row[6].text),
                .text(orNull: row[7].text),
            ]
        }
    }
}
