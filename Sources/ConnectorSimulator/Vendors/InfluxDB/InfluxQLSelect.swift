// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Evaluates a `SELECT` on the points of one measurement.
struct InfluxQLSelect {
    /// The parsed statement.
    let selection: InfluxQLStatement.Selection
    /// The unit of times in answers, in nanoseconds; `nil` for RFC 3339.
    let epoch: Int64?

    /// A column of the answer, and the field or tag it is read from.
    private struct Output {
        var name: String
        var source: ExactText
    }

    /// The series of the answer, one for each group.
    func series(from database: InfluxDatabase) throws(Refusal) -> [JSONValue] {
        let kinds = database.kinds[selection.measurement] ?? [:]
        let tagKeys = database.tagKeys(of: selection.measurement)
        let groupKeys = (selection.groups ?? tagKeys).filter { tagKeys.contains($0) }
        // By time; points of the same time stay in order of arrival.
        let matching = database.points(of: selection.measurement).filter { matches($0) }.enumerated()
            .sorted { ($0.element.time ?? 0, $0.offset) < ($1.element.time ?? 0, $1.offset) }.map(\.element)
        let groups = Dictionary(grouping: matching) { point in groupKeys.map { point.tags[$0] ?? ExactText("") } }
        let isAggregate = selection.columns.contains { if case .aggregate = $0 { true } else { false } }
        var series: [JSONValue] = []
        for (values, members) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let (columns, rows) =
                isAggregate
                ? try aggregate(members, fields: kinds.keys.sorted())
                : rows(members, outputs: outputs(fields: kinds.keys.sorted(), tags: tagKeys, groups: groupKeys))
            guard !rows.isEmpty else { continue }
            var object: JSONObject = ["name": .string(selection.measurement.text)]
            if !groupKeys.isEmpty {
                object["tags"] = .object(JSONObject(zip(groupKeys, values).map { ($0.text, .string($1.text)) }))
            }
            object["columns"] = .array(columns.map { .string($0) })
            object["values"] = .array(rows)
            series.append(.object(object))
        }
        return series
    }

    /// Whether a point is in the range and meets every condition.
    private func matches(_ point: InfluxPoint) -> Bool {
        let time = point.time ?? 0
        guard time >= selection.earliest, time <= selection.latest else { return false }
        return selection.conditions.allSatisfy { condition in
            let tag = point.tags[condition.name].map { JSONValue.string($0.text) }
            let value = tag ?? point.fields[condition.name]?.value
            return Self.compare(value, condition.comparison, condition.value)
        }
    }

    /// Compares as InfluxQL does: an absent tag equals the empty string, and only `!=` holds between values of different types.
    private static func compare(_ value: JSONValue?, _ comparison: String, _ other: JSONValue) -> Bool {
        if let number = value?.number, let limit = other.number {
            switch comparison {
            case "=": return number == limit
            case "<": return number < limit
            case "<=": return number <= limit
            case ">": return number > limit
            case ">=": return number >= limit
            default: return number != limit
            }
        }
        let value = value ?? .string("")
        switch comparison {
        case "=": return value == other
        case "!=", "<>": return value != other
        default: return false
        }
    }

    /// The columns of a selection without functions.
    private func outputs(fields: [ExactText], tags: [ExactText], groups: [ExactText]) -> [Output] {
        selection.columns.flatMap { column -> [Output] in
            switch column {
            case .all:
                (fields + tags.filter { !groups.contains($0) }).sorted().map { Output(name: $0.text, source: $0) }
            case .field("time", _): []
            case .field(let name, let alias): [Output(name: alias ?? name, source: ExactText(name))]
            case .aggregate: []
            }
        }
    }

    /// One row for each point that has a selected field; tags alone yield no row.
    private func rows(_ points: [InfluxPoint], outputs: [Output]) -> (columns: [String], rows: [JSONValue]) {
        let selected = points.filter { point in outputs.contains { point.fields[$0.source] != nil } }
        let ordered = selection.isDescending ? selected.reversed() : selected
        let page = ordered.dropFirst(selection.offset).prefix(selection.limit ?? .max)
        let rows = page.map { point in
            let values = outputs.map { output in
                point.fields[output.source]?.value ?? point.tags[output.source].map { .string($0.text) } ?? .null
            }
            return JSONValue.array([write(point.time ?? 0)] + values)
        }
        return (["time"] + outputs.map(\.name), rows)
    }

    /// One row with the result of each function.
    private func aggregate(
        _ points: [InfluxPoint],
        fields: [ExactText]
    ) throws(Refusal) -> (columns: [String], rows: [JSONValue]) {
        var columns = ["time"]
        var values: [JSONValue] = [write(selection.earliest == .min ? 0 : selection.earliest)]
        for column in selection.columns {
            guard case .aggregate(let function, let argument, let alias) = column else {
                throw Refusal(message: "mixing aggregate and non-aggregate queries is not supported")
            }
            for field in argument == "*" ? fields : [ExactText(argument)] {
                columns.append(alias ?? (argument == "*" ? "\(function)_\(field.text)" : function))
                values.append(Self.apply(function, to: points.compactMap { $0.fields[field]?.value }))
            }
        }
        let hasValue = values.dropFirst().contains { $0 != .null && $0 != .integer(0) }
        return (columns, hasValue ? [.array(values)] : [])
    }

    /// The result of one function; `null` if there is no value.
    private static func apply(_ function: String, to values: [JSONValue]) -> JSONValue {
        let numbers = values.compactMap(\.number)
        switch function {
        case "count": return .integer(Int64(values.count))
        case "first": return values.first ?? .null
        case "last": return values.last ?? .null
        case "min": return numbers.min().map { .number($0) } ?? .null
        case "max": return numbers.max().map { .number($0) } ?? .null
        case "sum": return numbers.isEmpty ? .null : .number(numbers.reduce(0, +))
        default: return numbers.isEmpty ? .null : .number(numbers.reduce(0, +) / Double(numbers.count))
        }
    }

    /// Formats a time in the unit of the request.
    private func write(_ time: Int64) -> JSONValue {
        guard let epoch else { return .string(InfluxQLTime.rfc3339(time)) }
        // Round down, even before 1970.
        return .integer(time / epoch - (time % epoch < 0 ? 1 : 0))
    }
}
