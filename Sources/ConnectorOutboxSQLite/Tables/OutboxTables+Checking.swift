// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Checking that what says which events are delivered is undamaged. Events have checksums; progress is stored twice: as a position,
/// and as counts.
extension OutboxTables {
    /// The most events to count, which bounds the time that opening a file takes: each command that stores an event opens it.
    private static let counted: Int64 = 10_000

    /// Checks that every connector of a route has its progress there, and that each position agrees with the counts.
    ///
    /// - Throws: A damage failure if not. SQLite sees nothing wrong with a row that has another number.
    func checkProgress() throws(Database.Failure) {
        _ = try nextSequence()
        let unknown = try statement(
            """
            SELECT count(*) FROM routes, json_each(iif(json_valid(routes.targets), routes.targets, '[""]')) AS name
            WHERE name.type = 'text' AND NOT EXISTS(SELECT 1 FROM targets JOIN cursors USING(target)
                WHERE targets.path = name.value AND cursors.route = routes.route)
            """
        ).integer()
        guard unknown == 0 else { throw .damaged("a connector's progress is missing") }
        try checkCursors()
        try checkRetries()
    }

    /// Compares the number of events beyond each cursor with the counts.
    private func checkCursors() throws(Database.Failure) {
        var cursors: [(target: Int64, cursor: Cursor, waiting: Int64)] = []
        try statement(
            "SELECT target, route, position, routes.count, cursors.count FROM cursors LEFT JOIN routes USING(route)"
        ).run { row throws(Database.Failure) in
            let route = try row.integer(1, in: Schema.routes)
            let cursor = Cursor(route: route, position: try row.integer(2, in: Schema.positions(of: route)))
            cursors.append((try row.integer(0), cursor, try row.integer(3) - row.integer(4)))
        }
        let count = try statement("SELECT count(*) FROM (SELECT 1 \(Self.eventsBeyondCursor))")
        for (target, cursor, waiting) in cursors {
            let most = min(max(0, waiting), Self.counted) + 1
            let found = try count.integer(
                .integer(cursor.position),
                .integer(cursor.end),
                .integer(target),
                .integer(most)
            )
            try check(found ?? 0, waiting, "a cursor disagrees with the counts of its route")
        }
    }

    /// Compares the number of each connector's retries with its count.
    private func checkRetries() throws(Database.Failure) {
        var counts: [(target: Int64, retried: Int64)] = []
        try statement("SELECT target, retried FROM targets").run { row throws(Database.Failure) in
            counts.append((try row.integer(0), try row.integer(1)))
        }
        let count = try statement("SELECT count(*) FROM (SELECT 1 FROM retries WHERE target = ? LIMIT ?)")
        for (target, retried) in counts {
            let found = try count.integer(.integer(target), .integer(min(retried, Self.counted) + 1))
            try check(found ?? 0, retried, "a connector's retries disagree with their count")
        }
    }

    /// Throws a damage failure if a number of rows, counted up to ``counted`` and one more, is not the expected one.
    private func check(_ found: Int64, _ expected: Int64, _ problem: String) throws(Database.Failure) {
        guard found == expected || expected > Self.counted && found > Self.counted else { throw .damaged(problem) }
    }
}
