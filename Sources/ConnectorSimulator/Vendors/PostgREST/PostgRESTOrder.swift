// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The order of rows, such as `n.desc.nullslast,"a name"`.
struct PostgRESTOrder {
    /// The columns to order by, the most significant first.
    private var terms: [(column: PostgRESTColumn, isDescending: Bool, nullsFirst: Bool)] = []

    /// Reads the parameter `order`. Like PostgreSQL, takes null for greater than any other value.
    init(_ text: String) throws(PostgRESTFailure) {
        var parser = PostgRESTParser(text)
        repeat {
            guard let column = parser.column(until: ".,(") else { throw .unreadable("order", text) }
            let isDescending = parser.reads(".desc")
            if !isDescending { _ = parser.reads(".asc") }
            let nullsFirst = parser.reads(".nullsfirst") || !parser.reads(".nullslast") && isDescending
            terms.append((column, isDescending, nullsFirst))
        } while parser.reads(",")
        guard parser.isAtEnd else { throw .unreadable("order", text) }
    }

    /// The rows in order; equal ones stay as they are.
    func sorted(_ rows: [JSONObject]) -> [JSONObject] {
        rows.enumerated().sorted { left, right in
            for term in terms {
                let (one, other) = (term.column.value(in: left.element), term.column.value(in: right.element))
                if one == .null || other == .null {
                    if one == other { continue }
                    return (one == .null) == term.nullsFirst
                }
                let order = PostgRESTColumn.order(one, other)
                if order != 0 { return (order < 0) != term.isDescending }
            }
            return left.offset < right.offset
        }.map(\.element)
    }
}
