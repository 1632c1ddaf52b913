// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension ConsoleAct {
    /// The text that identifies the act in a posted form; the act itself is looked up in the scene.
    var key: String {
        switch subject.kind {
        case .gate(let path): "\(verb.rawValue) gate \(path)"
        case .letter(let id, let connector): "\(verb.rawValue) letter \(id) \(connector ?? "")"
        case .letters: "\(verb.rawValue) letters"
        // Posted by its form, with the arguments; no button refers to it.
        case .operation(let name, let path, _, _): "\(verb.rawValue) \(name) of \(path)"
        }
    }
}

extension Scene {
    /// The act with a key, among all acts of the scene and its rows; nil if there is none.
    func act(_ key: String) -> ConsoleAct? {
        acts.first { $0.key == key } ?? components.lazy.flatMap(\.rows).flatMap(\.acts).first { $0.key == key }
    }
}
