// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A row of a component.
public struct Row: Sendable, Hashable, Identifiable {
    /// Unique in the component, and stable for as long as the row describes the same thing.
    public let id: String
    /// The cells, from left to right.
    public var cells: [StyledText]
    /// The row's depth in a tree, at most 64.
    public let depth: Int
    /// The route that it opens; nil for none.
    public var link: Route?
    /// The actions on the subject of the row.
    public var acts: [ConsoleAct] = []
    /// The equivalent command line; nil if only the scene has one.
    public var commandLine: String?

    /// Creates a row.
    public init(_ id: String, _ cells: [StyledText], depth: Int = 0, link: Route? = nil) {
        self.id = id
        self.cells = cells
        self.depth = min(max(0, depth), 64)
        self.link = link
    }

    /// The acts that are pending or have failed, in one line; empty if there are none.
    public var actText: StyledText {
        acts.lazy.map(\.state.text).filter { !$0.isEmpty }.reduce("") { $0.isEmpty ? $1 : $0 + "  " + $1 }
    }

    /// Whether a cell contains a text, ignoring case.
    ///
    /// - Parameter text: The text, in lower case.
    func contains(_ text: String) -> Bool {
        cells.contains { $0.text.lowercased().contains(text) }
    }
}
