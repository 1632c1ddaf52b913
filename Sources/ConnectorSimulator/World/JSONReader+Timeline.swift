// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads what happens without a call.
extension JSONReader {
    /// Reads `timeline`; empty if absent.
    mutating func timeline(in object: JSONObject, at root: JSONPath) -> [TimelineEntry] {
        let elements = value("timeline", in: object, at: root, kind: "an array") { $0.array } ?? []
        return elements.enumerated().compactMap { entry($1, at: root.appending("timeline").appending($0)) }
    }

    /// The values that templates may refer to in the timeline.
    private static let scope = ["count", "time"]

    private mutating func entry(_ value: JSONValue, at place: JSONPath) -> TimelineEntry? {
        let lasting = ["fault", "error", "answers", "operations"]
        let actions = ["event", "keep", "remove"] + lasting
        guard let object = members(of: value, at: place, allowed: ["at", "every", "times", "for"] + actions) else {
            return nil
        }
        let (at, every) = (time("at", in: object, at: place), time("every", in: object, at: place, isPositive: true))
        if object["at"] == nil, object["every"] == nil {
            report(.missingValue, "\(name(of: place)) must say when: \"at\", \"every\" or both", at: place)
        }
        if object["times"] != nil, object["every"] == nil {
            report(.invalidValue, "\"times\" is how often \"every\" happens", at: place.appending("times"), .name)
        }
        if !actions.contains(where: { object[$0] != nil }) {
            report(.missingValue, "nothing happens: add one of \(Self.list(actions))", at: place)
        }
        if object["for"] != nil, !lasting.contains(where: { object[$0] != nil }) {
            report(
                .invalidValue,
                "\"for\" is how long one of \(Self.list(lasting)) lasts",
                at: place.appending("for"),
                .name
            )
        }
        let entry = TimelineEntry(
            at: at,
            every: every,
            times: integer("times", in: object, at: place, within: 1...1_000_000).map { Int($0) },
            lasts: time("for", in: object, at: place, isPositive: true),
            event: event(in: object, at: place),
            keep: kept(in: object, at: place, Self.scope),
            remove: record("remove", in: object, at: place, Self.scope),
            fault: fault(in: object, at: place),
            failure: failure(in: object, at: place, Self.scope),
            answers: answers(in: object, at: place),
            operations: operations(in: object, at: place)
        )
        checkSizes(of: entry, at: place)
        return entry
    }

    /// Reports what would be too large to happen, as far as that does not depend on earlier entries and calls.
    private mutating func checkSizes(of entry: TimelineEntry, at place: JSONPath) {
        let time = "2026-01-01T00:00:00.000Z"
        let values: JSONTemplate.Values = ["count": .integer(Int64(entry.times ?? 1)), "time": .string(time)]
        check(at: place.appending("keep")) { () throws(ConnectorError) in
            var records = SimulatedRecords()
            if let keep = entry.keep { _ = try records.keep(keep, values) }
        }
        check(at: place.appending("remove")) { () throws(ConnectorError) in _ = try entry.remove?.filled(values) }
        check(at: place.appending("error")) { () throws(ConnectorError) in _ = try entry.failure?.filled(values) }
        check(at: place.appending("event")) { () throws(ConnectorError) in _ = try entry.event?.filled(values) }
    }

    private mutating func check(at place: JSONPath, _ body: () throws(ConnectorError) -> Void) {
        do throws(ConnectorError) {
            try body()
        } catch {
            report(error, at: place)
        }
    }

    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Reports entries that change what the file does not simulate.
    mutating func check(_ timeline: JSONValue?, _ hasOperations: Bool, _ hasAnswers: Bool, at root: JSONPath) {
        for (index, entry) in (timeline?.array ?? []).enumerated() {
            let place = root.appending("timeline").appending(index)
            for name in ["error", "operations", "keep", "remove"] where !hasOperations && entry[name] != nil {
                report(
                    .invalidValue,
                    "\"\(name)\" changes a simulated interface, and there are no \"operations\"",
                    fix: "add \"operations\"; an empty array is enough",
                    at: place.appending(name),
                    .name
                )
            }
            for name in ["fault", "answers"] where hasOperations && !hasAnswers && entry[name] != nil {
                report(
                    .invalidValue,
                    "\"\(name)\" changes what a vendor answers, and a simulated interface asks none",
                    fix: "use \(name == "fault" ? "\"error\"" : "\"operations\"")",
                    at: place.appending(name),
                    .name
                )
            }
        }
    }

    private mutating func event(in object: JSONObject, at place: JSONPath) -> TimelineEntry.Event? {
        guard let value = object["event"] else { return nil }
        let here = place.appending("event")
        guard let members = members(of: value, at: here, allowed: ["name", "payload"]) else { return nil }
        let name = string("name", in: members, at: here, required: true) ?? "event"
        let isName =
            name.utf8.first?.isLetter ?? false
            && name.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
            && name.utf8.count <= TimelineEntry.Event.nameLimit
        if !isName {
            report(
                .invalidValue,
                "the name of an event is a letter, then letters, digits, \".\", \"_\" and \"-\", at most \(TimelineEntry.Event.nameLimit)",
                at: here.appending("name")
            )
        }
        return TimelineEntry.Event(
            name: name,
            payload: template("payload", in: members, at: here, Self.scope) ?? .value(.null)
        )
    }

    /// Reads the settings of a fault of the vendor's HTTP API, such as `status=503`.
    private mutating func fault(in object: JSONObject, at place: JSONPath) -> Fault? {
        guard let text = string("fault", in: object, at: place) else { return nil }
        do throws(FaultError) {
            return try Fault("*:\(text)", vendors: [])
        } catch {
            report(.invalidValue, "the fault is \"\(text.excerpt)\": \(error.reason)", at: place.appending("fault"))
            return nil
        }
    }

    private mutating func time(
        _ name: String,
        in object: JSONObject,
        at place: JSONPath,
        isPositive: Bool = false
    ) -> Duration? {
        let kind = "a duration such as \"250ms\", \"5s\", \"2m\" or \"1h\""
        guard let text = value(name, in: object, at: place, kind: kind, { $0.string }) else { return nil }
        guard let duration = Duration(parsing: text) else {
            report(.invalidValue, "\(name) is \"\(text.excerpt)\"; it must be \(kind)", at: place.appending(name))
            return nil
        }
        if isPositive, duration == .zero {
            report(.invalidValue, "\(name) must be longer than 0", at: place.appending(name))
            return nil
        }
        return duration
    }
}
