// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// The line of a change between two images of a plugin.
struct ChangeLines {
    /// The change.
    var change: PluginChange

    func lines(_ style: TextStyle) -> [String] {
        let (word, colour): (String, TextStyle.Colour) =
            switch change.effect {
            case .breaks: ("breaks", .bad)
            case .wants: ("wants", .warning)
            case .none: ("changes", .faint)
            }
        let subject = change.subject.rawValue
        let name = change.name == subject ? subject : "\(subject) \(style.shown(change.name))"
        let line = "\(style.paint(word, colour)) \(name)"
        switch (change.from.map(style.shown), change.to.map(style.shown)) {
        case (let from?, let to?): return [line + ": \(from) \(style.arrow) \(to)"]
        case (let from?, nil): return [line + (from == change.name ? ": gone" : ": gone, was \(from)")]
        case (nil, let to?): return [line + (to == change.name ? "" : ": \(to)")]
        case (nil, nil): return [line]
        }
    }
}

extension PluginChange {
    /// The change in a command's document.
    var json: JSONValue {
        var object: JSONObject = [
            "effect": .string(effect.rawValue), "subject": .string(subject.rawValue), "name": .string(name),
        ]
        object["from"] = from.map { .string($0) }
        object["to"] = to.map { .string($0) }
        return .object(object)
    }
}
