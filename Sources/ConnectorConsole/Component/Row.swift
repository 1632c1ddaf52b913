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
    /// What an operator can do to the thing that the row describes.
    public var acts: [ConsoleAct] = []
    /// The command line that shows the same; nil if the scene has it, or there is none.
    public var commandLine: String?

    /// Creates a row.
    public init(_ id: String, _ cells: [StyledText], depth: Int = 0, link: Route? = nil) {
        self.id = id
        self.cells = cells
        self.depth = min(max(0, depth), 64)
        self.link = link
    }

    /// Whether a cell contains a text, regardless of case.
    func contains(_ text: String) -> Bool {
        cells.contains { $0.text.range(ofLowercased: text) }
    }
}

extension String {
    /// Whether the text contains another one, which is in lower case already.
    fileprivate func range(ofLowercased text: String) -> Bool { lowercased().contains(text) }
}
