// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension ConsoleAct {
    /// The text that a form names it by; the act itself is found again among those that a scene offers.
    var key: String {
        switch subject.kind {
        case .gate(let path): "\(verb.rawValue) gate \(path)"
        case .letter(let id, let connector): "\(verb.rawValue) letter \(id) \(connector ?? "")"
        case .letters: "\(verb.rawValue) letters"
        // Named by its form, which has the arguments, and offered by no button.
        case .operation(let name, let path, _, _): "\(verb.rawValue) \(name) of \(path)"
        }
    }
}

extension Scene {
    /// The act of a key, among all that the scene offers.
    func act(_ key: String) -> ConsoleAct? {
        acts.first { $0.key == key } ?? components.lazy.flatMap(\.rows).flatMap(\.acts).first { $0.key == key }
    }
}
