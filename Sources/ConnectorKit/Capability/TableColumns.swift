// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

/// The table columns that have a meaning in `database/1`, for vendors whose collections are tables.
///
/// A record has no members for null columns, nor for its id and version.
package struct TableColumns: Sendable {
    /// The vendor's name, which becomes the domain of errors.
    package let vendor: String
    /// The column of a record's id.
    package let id: String
    /// The column of a record's version; nil for none.
    package let version: String?

    /// Reads the fields `idColumn` and, if there is one, `versionColumn`.
    package init(_ configuration: PluginConfiguration, vendor: String) throws(PluginError) {
        self.vendor = vendor
        id = try configuration.string("idColumn")
        version = configuration.optionalString("versionColumn")
    }

    /// The record in a row.
    ///
    /// - Parameters:
    ///   - row: The row, as the vendor answers it.
    ///   - isProved: Whether certainly the vendor answered: then it is the configuration that names a column the row lacks.
    ///   - isNew: Whether the vendor has certainly just stored the row.
    /// - Throws: `invalid` if the row lacks the id column, or `protocolViolation` if the answer is not proved; `invalid` if the
    ///   column's value is neither a string nor an integer.
    package func record(_ row: JSONValue, isProved: Bool = false, isNew: Bool = false) throws(PluginError)
        -> DatabaseRecord
    {
        guard let columns = row.object, let value = columns[id] else {
            guard isProved || isNew, row.object != nil else {
                throw PluginError(.protocolViolation, "the row has no column \"\(id)\"", domain: vendor)
            }
            throw PluginError(
                .invalid,
                "the row\(isNew ? " was stored, but" : "") has no column \"\(id)\"; set idColumn to the table's primary key",
                domain: vendor
            )
        }
        guard let id = Self.text(value) else {
            let fix =
                value == .null
                ? "give the column a default, or records an id" : "make it a text or an integer of 64 bits"
            throw PluginError(
                .invalid,
                "the column \"\(id)\" of the row\(isNew ? ", which was stored," : "") is \(value.kind), not an id; \(fix)",
                domain: vendor
            )
        }
        let members = columns.members.filter { $0.value != .null && $0.name != self.id && $0.name != version }
        return DatabaseRecord(
            id: id,
            version: version.flatMap { Self.text(columns[$0]) },
            data: JSONObject(members.map { ($0.name, $0.value) })
        )
    }

    /// The records in rows.
    ///
    /// - Throws: As ``record(_:)`` does.
    package func records(_ rows: JSONValue?, isProved: Bool = false) throws(PluginError) -> [DatabaseRecord] {
        var records: [DatabaseRecord] = []
        for row in rows?.array ?? [] { records.append(try record(row, isProved: isProved)) }
        return records
    }

    /// The columns of a new or changed row. A whole number has no fraction: to PostgreSQL, 2.0 is no integer.
    ///
    /// - Parameters:
    ///   - record: The members to write.
    ///   - id: The id of a new row; nil if the database makes it, or the row is not new.
    /// - Throws: `invalid` if a member of the record is the id or version column.
    package func checked(_ record: JSONObject, id newID: String? = nil) throws(PluginError) -> JSONObject {
        for name in [id, version].compactMap(\.self) where record[name] != nil {
            throw PluginError(.invalid, "the column \"\(name)\" is the record's id or version", domain: vendor)
        }
        let members = record.members.map { ($0.name, $0.value.integer.map { JSONValue.integer($0) } ?? $0.value) }
        var row = JSONObject(members)
        row.set(id, newID)
        return row
    }

    /// The columns that an update must set to replace a row: the record's members, and null in every other column.
    ///
    /// - Throws: As ``record(_:isProved:isNew:)`` does for the row, before anything has changed, and as ``checked(_:id:)`` does.
    package func replacement(
        of row: JSONValue,
        with record: JSONObject,
        isProved: Bool = false
    ) throws(PluginError) -> JSONObject {
        _ = try self.record(row, isProved: isProved)
        var columns = try checked(record)
        for name in row.object?.names ?? [] where record[name] == nil && name != id && name != version {
            columns[name] = .some(.null)
        }
        return columns
    }

    /// The filters that match only the row with an id and, if one is given, a version.
    ///
    /// - Throws: `unsupported` if a version is given but there is no version column.
    package func filters(id text: String, version: String?) throws(PluginError) -> [DatabaseQuery.Filter] {
        let filter = DatabaseQuery.Filter(id, .equal, .string(text))
        guard let version else { return [filter] }
        guard let column = self.version else {
            throw PluginError(.unsupported, "the records have no versions", domain: vendor)
        }
        return [filter, DatabaseQuery.Filter(column, .equal, .string(version))]
    }

    /// The values that a filter compares with, as text; empty if it compares with null.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - hasNumericBooleans: Whether true and false are 1 and 0, as in SQLite.
    /// - Throws: `invalid` if it compares null by anything but equality, because SQL does not order null.
    package func texts(of filter: DatabaseQuery.Filter, hasNumericBooleans: Bool = false) throws(PluginError)
        -> [String]
    {
        let values = filter.value.array ?? [filter.value]
        guard values.contains(.null) else {
            return values.map { value in
                if hasNumericBooleans, let bool = value.bool { return bool ? "1" : "0" }
                return value.string ?? value.integer.map { "\($0)" } ?? value.serialized()
            }
        }
        guard filter.comparison == .equal || filter.comparison == .notEqual else {
            throw PluginError(.invalid, "null can be compared by \"eq\" and \"ne\" only", domain: vendor)
        }
        return []
    }

    private static func text(_ value: JSONValue?) -> String? {
        value?.string ?? value?.integer.map { "\($0)" }
    }
}
