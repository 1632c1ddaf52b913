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
                ? try aggregate(members, kinds)
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
        if let order = value?.numericOrder(to: other) {
            switch comparison {
            case "=": return order == 0
            case "<": return order < 0
            case "<=": return order <= 0
            case ">": return order > 0
            case ">=": return order >= 0
            default: return order != 0
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
        let rows = selection.page.rows(of: ordered).map { point in
            let values = outputs.map { output in
                point.fields[output.source]?.value ?? point.tags[output.source].map { .string($0.text) } ?? .null
            }
            return JSONValue.array([write(point.time ?? 0)] + values)
        }
        return (Self.distinct(["time"] + outputs.map(\.name)), rows)
    }

    /// A function of a field.
    private struct Call {
        /// The name of the function.
        var name: String
        /// The field.
        var field: ExactText
        /// The name of the column.
        var column: String
    }

    /// One row with the result of each function. Its time is that of the point that the only function selects, or else the
    /// beginning of the range.
    private func aggregate(
        _ points: [InfluxPoint],
        _ kinds: [ExactText: InfluxPoint.FieldKind]
    ) throws(Refusal) -> (columns: [String], rows: [JSONValue]) {
        var calls: [Call] = []
        for column in selection.columns {
            guard case .aggregate(let function, let argument, let alias) = column else {
                throw Refusal(message: "mixing aggregate and non-aggregate queries is not supported")
            }
            let prefix = alias ?? function
            guard argument != "*" else {
                calls += kinds.filter { Self.takes(function, $0.value) }.keys.sorted().map {
                    Call(name: function, field: $0, column: "\(prefix)_\($0.text)")
                }
                continue
            }
            let field = ExactText(argument)
            if let kind = kinds[field], !Self.takes(function, kind) {
                let type = "*query.\(kind.rawValue)InterruptIterator"
                throw Refusal(message: "unsupported \(function) iterator type: \(type)")
            }
            calls.append(Call(name: function, field: field, column: prefix))
        }
        let results = calls.map { call in
            Self.apply(call.name, to: points.compactMap { $0.fields[call.field] == nil ? nil : $0 }, call.field)
        }
        guard results.contains(where: { $0.value != .null }) else { return ([], []) }
        let begin = selection.earliest == .min ? 0 : selection.earliest
        let time = (results.count == 1 ? results[0].time : nil) ?? begin
        let row = JSONValue.array([write(time)] + results.map(\.value))
        return (Self.distinct(["time"] + calls.map(\.column)), selection.page.rows(of: [row]))
    }

    /// Whether a function takes values of a type.
    private static func takes(_ function: String, _ kind: InfluxPoint.FieldKind) -> Bool {
        switch function {
        case "count", "first", "last": true
        case "min", "max": kind != .string
        default: kind == .integer || kind == .float
        }
    }

    /// The result of one function, and the time of the point it selects; `null` if no point has the field.
    private static func apply(
        _ function: String,
        to points: [InfluxPoint],
        _ field: ExactText
    ) -> (value: JSONValue, time: Int64?) {
        guard let first = points.first, let last = points.last else { return (.null, nil) }
        func value(_ point: InfluxPoint) -> JSONValue { point.fields[field]?.value ?? .null }
        func selected(_ point: InfluxPoint) -> (JSONValue, Int64?) { (value(point), point.time) }
        func isLess(_ one: InfluxPoint, _ other: InfluxPoint) -> Bool {
            switch (value(one), value(other)) {
            case (.integer(let left), .integer(let right)): left < right
            case (.bool(let left), .bool(let right)): !left && right
            case (let left, let right): (left.number ?? 0) < (right.number ?? 0)
            }
        }
        let sum = points.reduce(0) { $0 + (value($1).number ?? 0) }
        switch function {
        case "count": return (.integer(Int64(points.count)), nil)
        case "first": return selected(first)
        case "last": return selected(last)
        case "min": return selected(points.min(by: isLess) ?? first)
        case "max": return selected(points.reduce(first) { isLess($0, $1) ? $1 : $0 })
        case "mean": return (.number(sum / Double(points.count)), nil)
        default:
            guard first.fields[field]?.kind == .integer else { return (.number(sum), nil) }
            return (.integer(points.reduce(0) { $0 &+ (value($1).integer ?? 0) }), nil)
        }
    }

    /// Column names, with a number after one that occurs again.
    private static func distinct(_ names: [String]) -> [String] {
        var counts: [ExactText: Int] = [:]
        return names.map { name in
            let count = counts[ExactText(name), default: 0]
            counts[ExactText(name)] = count + 1
            return count == 0 ? name : "\(name)_\(count)"
        }
    }

    /// Formats a time in the unit of the request.
    private func write(_ time: Int64) -> JSONValue {
        guard let epoch else { return .string(InfluxQLTime.rfc3339(time)) }
        // Round down, even before 1970.
        return .integer(time / epoch - (time % epoch < 0 ? 1 : 0))
    }
}
