// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// One line of the table: what the host takes, and what something else takes for the same.
struct Measurement {
    /// What the samples count.
    enum Unit: String {
        case nanoseconds
        case kilobytes
        case count
    }

    /// What was promised.
    enum Goal {
        /// At most this many times what the reference takes.
        case ratio(Double)
        /// At most this much.
        case value(Double)
        /// At most this much more than the reference.
        case more(Double)
    }

    /// The name for programs, such as `open/100`.
    let id: String
    /// The name for people.
    let title: String
    /// What the samples count.
    let unit: Unit
    /// The name of what it is compared with, such as "C"; nil for nothing.
    let referenceName: String?
    /// What was promised, if anything was.
    let goal: Goal?
    /// What the host takes.
    var host = Samples()
    /// What the reference takes, measured in the same rounds.
    var reference = Samples()

    init(_ id: String, _ title: String, unit: Unit = .nanoseconds, beside reference: String? = nil, goal: Goal? = nil) {
        self.id = id
        self.title = title
        self.unit = unit
        self.referenceName = reference
        self.goal = goal
    }

    /// The host's median divided by the reference's; nil without a reference.
    var ratio: Double? {
        reference.median > 0 ? host.median / reference.median : nil
    }

    /// Whether the goal was reached; nil if there is none.
    var isMet: Bool? {
        switch goal {
        case .ratio(let limit): ratio.map { $0 <= limit }
        case .value(let limit): host.median <= limit
        case .more(let limit): host.median - reference.median <= limit
        case nil: nil
        }
    }

    /// As the results show it; absent values are left out.
    var json: JSONValue {
        var object = JSONObject()
        object["id"] = .string(id)
        object["title"] = .string(title)
        object["unit"] = .string(unit.rawValue)
        object["host"] = host.json
        if let referenceName {
            var beside = reference.json.object ?? JSONObject()
            beside["name"] = .string(referenceName)
            object["reference"] = .object(beside)
        }
        object["ratio"] = ratio.map { .number(($0 * 1000).rounded() / 1000) }
        switch goal {
        case .ratio(let limit): object["goal"] = ["ratio": .number(limit)]
        case .value(let limit): object["goal"] = ["value": .number(limit)]
        case .more(let limit): object["goal"] = ["more": .number(limit)]
        case nil: break
        }
        object["met"] = isMet.map(JSONValue.bool)
        return .object(object)
    }
}
