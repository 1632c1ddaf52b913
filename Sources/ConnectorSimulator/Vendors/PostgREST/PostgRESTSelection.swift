// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// What a request selects: columns, with other names and types if it says so, such as `title,total:count::text,data->>name`.
struct PostgRESTSelection {
    /// A selected column; nil stands for all.
    private var items: [(label: String, column: PostgRESTColumn, type: String?)?] = []

    /// The types that a value can be converted to.
    private static let types: Set = [
        "text", "varchar", "int", "int4", "int8", "integer", "bigint", "float4", "float8", "numeric", "json", "jsonb",
    ]

    /// Reads the parameter `select`.
    ///
    /// - Throws: The server's error for another table or a function; otherwise that for a text that cannot be read.
    init(_ text: String, of table: String) throws(PostgRESTFailure) {
        var parser = PostgRESTParser(text)
        repeat {
            if parser.reads("*") {
                items.append(nil)
                continue
            }
            guard var column = parser.column(until: ":,(") else { throw .unreadable("select parameter", text) }
            var label = column.label
            if !parser.isNext("::"), parser.reads(":") {
                label = column.name
                guard let named = parser.column(until: ":,(") else { throw .unreadable("select parameter", text) }
                column = named
            }
            if parser.isNext("(") { throw Self.refusal(of: column.name, table) }
            let type = parser.reads("::") ? parser.word(until: ",(") : nil
            if let type, !Self.types.contains(type) {
                guard !type.isEmpty else { throw .unreadable("select parameter", text) }
                throw PostgRESTFailure(status: 400, code: "42704", message: "type \"\(type)\" does not exist")
            }
            items.append((label, column, type))
        } while parser.reads(",")
        guard parser.isAtEnd else { throw .unreadable("select parameter", text) }
    }

    /// The error for what is before parentheses: a function, or another table.
    private static func refusal(of name: String, _ table: String) -> PostgRESTFailure {
        let function = name.split(ascii: ".").last.map { String($0) } ?? ""
        guard !["count", "sum", "avg", "min", "max"].contains(function) else {
            return PostgRESTFailure(status: 400, code: "PGRST123", message: "Use of aggregate functions is not allowed")
        }
        let message = "Could not find a relationship between '\(table)' and '\(name)' in the schema cache"
        return PostgRESTFailure(status: 400, code: "PGRST200", message: message)
    }

    /// The selected part of a row.
    func applied(to row: JSONObject) throws(PostgRESTFailure) -> JSONValue {
        var selected = JSONObject()
        for item in items {
            guard let item else {
                for member in row.members { selected[member.name] = .some(member.value) }
                continue
            }
            selected[item.label] = .some(try Self.converted(item.column.value(in: row), to: item.type))
        }
        return .object(selected)
    }

    /// A value in the type that the request names; throws if it cannot be converted.
    private static func converted(_ value: JSONValue, to type: String?) throws(PostgRESTFailure) -> JSONValue {
        guard let type, value != .null else { return value }
        let text = PostgRESTColumn.text(value)
        switch type {
        case "text", "varchar": return .string(text)
        case "json", "jsonb":
            if let parsed = value.string == nil ? value : try? JSONValue(parsing: text) { return parsed }
        default:
            let number = JSONValue.number(in: text)
            if let number, type.starts(ascii: "float") || type == "numeric" || number.integer != nil { return number }
        }
        let message = "invalid input syntax for type \(type): \"\(text)\""
        throw PostgRESTFailure(status: 400, code: "22P02", message: message)
    }
}
