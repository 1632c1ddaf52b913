// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A dialog in front of the scene; it receives all input until it is closed.
public struct Dialog: Sendable, Hashable {
    package let kind: Kind

    package enum Kind: Sendable, Hashable {
        case help
        case confirmation(ConsoleAct)
        case menu([ConsoleAct])
    }

    /// The list of keys.
    public static let help = Dialog(kind: .help)
    /// Confirms an act that cannot be undone.
    public static func confirmation(_ act: ConsoleAct) -> Dialog { Dialog(kind: .confirmation(act)) }
    /// Offers several acts.
    public static func menu(_ acts: [ConsoleAct]) -> Dialog { Dialog(kind: .menu(acts)) }

    /// The act to confirm; nil if the dialog is not a question.
    public var confirmed: ConsoleAct? { if case .confirmation(let act) = kind { act } else { nil } }
    /// The acts to choose from; empty unless the dialog is a menu.
    public var choices: [ConsoleAct] { if case .menu(let acts) = kind { acts } else { [] } }
}
