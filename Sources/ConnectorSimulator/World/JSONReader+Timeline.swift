// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Reads what happens by itself.
extension JSONReader {
    /// Reads `timeline`; empty if absent.
    mutating func timeline(in object: JSONObject, at root: JSONPath) -> [TimelineEntry] {
        let elements = value("timeline", in: object, at: root, kind: "an array") { $0.array } ?? []
        return elements.enumerated().compactMap { entry($1, at: root.appending("timeline").appending($0)) }
    }

    private mutating func entry(_ value: JSONValue, at place: JSONPath) -> TimelineEntry? {
        let allowed = ["at", "every", "times", "for", "event", "keep", "remove", "fault", "error"]
        guard let object = members(of: value, at: place, allowed: allowed) else { return nil }
        let (at, every) = (time("at", in: object, at: place), time("every", in: object, at: place))
        if object["at"] == nil, object["every"] == nil {
            report(.missingValue, "\(name(of: place)) must say when: \"at\", \"every\" or both", at: place)
        }
        if every == .zero { report(.invalidValue, "every must be longer than 0", at: place.appending("every")) }
        let actions = ["event", "keep", "remove", "fault", "error"]
        if !actions.contains(where: { object[$0] != nil }) {
            let list = actions.map { "\"\($0)\"" }.joined(separator: ", ")
            report(.missingValue, "nothing happens: add one of \(list)", at: place)
        }
        if object["for"] != nil, object["fault"] == nil, object["error"] == nil {
            report(
                .invalidValue,
                "\"for\" is how long a \"fault\" or an \"error\" lasts",
                at: place.appending("for"),
                .name
            )
        }
        return TimelineEntry(
            at: at,
            every: every,
            times: integer("times", in: object, at: place, within: 1...1_000_000).map { Int($0) },
            lasts: time("for", in: object, at: place),
            event: event(in: object, at: place),
            keep: kept(in: object, at: place),
            remove: self.place("remove", in: object, at: place),
            fault: fault(in: object, at: place),
            failure: failure(in: object, at: place)
        )
    }

    private mutating func event(in object: JSONObject, at place: JSONPath) -> TimelineEntry.Event? {
        guard let value = object["event"] else { return nil }
        let here = place.appending("event")
        guard let members = members(of: value, at: here, allowed: ["name", "payload"]) else { return nil }
        let name = string("name", in: members, at: here, required: true) ?? "event"
        let isName =
            name.utf8.first?.isLetter ?? false
            && name.utf8.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        if !isName {
            report(
                .invalidValue,
                "the name of an event is a letter, then letters, digits, \".\", \"_\" and \"-\"",
                at: here.appending("name")
            )
        }
        return TimelineEntry.Event(name: name, payload: template("payload", in: members, at: here) ?? .value(.null))
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

    private mutating func time(_ name: String, in object: JSONObject, at place: JSONPath) -> Duration? {
        let kind = "a duration such as \"250ms\", \"5s\", \"2m\" or \"1h\""
        guard let text = value(name, in: object, at: place, kind: kind, { $0.string }) else { return nil }
        guard let duration = Duration(parsing: text) else {
            report(.invalidValue, "\(name) is \"\(text.excerpt)\"; it must be \(kind)", at: place.appending(name))
            return nil
        }
        return duration
    }
}
