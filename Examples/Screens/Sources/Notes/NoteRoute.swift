// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// A place in the application, with the data of the place.
public enum NoteRoute: RouteValue {
    /// Every note.
    case list
    /// A note, and which of its tabs is shown.
    case note(String, Tab = .text)

    /// A tab of a note.
    public enum Tab: String, Sendable, CaseIterable {
        /// Its text.
        case text
        /// Its numbers.
        case numbers
    }

    /// The first part of the routes.
    public static let root = "notes"

    /// The title and the tab of a note.
    public var parts: [String] {
        switch self {
        case .list: []
        case .note(let title, let tab): tab == .text ? [title] : [title, tab.rawValue]
        }
    }

    /// Reads the title and the tab.
    public init?(parts: [String]) {
        switch parts.count {
        case 0: self = .list
        case 1: self = .note(parts[0])
        case 2:
            guard let tab = Tab(rawValue: parts[1]) else { return nil }
            self = .note(parts[0], tab)
        default: return nil
        }
    }
}
