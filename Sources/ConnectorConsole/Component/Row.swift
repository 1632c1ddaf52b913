// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A row of a component.
public struct Row: Sendable, Hashable, Identifiable {
    /// Unique in the component, and the same as long as it is about the same thing.
    public let id: String
    /// The cells, from left to right.
    public var cells: [StyledText]
    /// How many rows of a tree it is below, at most 64.
    public let depth: Int
    /// Where it leads; nil for nowhere.
    public var link: Route?
    /// What can be done to what it is about.
    public var acts: [ConsoleAct] = []
    /// What does the same on the command line; nil where its scene says it, or nothing does.
    public var commandLine: String?

    /// Takes its parts.
    public init(_ id: String, _ cells: [StyledText], depth: Int = 0, link: Route? = nil) {
        self.id = id
        self.cells = cells
        self.depth = min(max(0, depth), 64)
        self.link = link
    }

    /// Whether the row says a text, in capitals or not.
    func contains(_ text: String) -> Bool {
        cells.contains { $0.text.range(ofLowercased: text) }
    }
}

extension String {
    /// Whether the text has another in it that is in lower case already.
    fileprivate func range(ofLowercased text: String) -> Bool { lowercased().contains(text) }
}
