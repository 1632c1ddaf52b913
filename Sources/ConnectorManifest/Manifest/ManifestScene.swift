// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A console scene that a manifest describes, without code: it shows what the plugin's operations and events say.
///
/// Consoles show it in a tab of its own while a gate of the plugin is configured.
public struct ManifestScene: Sendable, Hashable {
    /// The name, unique in the manifest: see ``isIdentifier(_:)``.
    public var name: String
    /// The title of the tab.
    public var title: String
    /// The components, from the top.
    public var components: [Component]

    /// The greatest number of scenes in a manifest.
    static let limit = 8
    /// The greatest number of components in a scene, and of columns in a component.
    static let partLimit = 16
    /// The greatest length of a title, in characters.
    static let titleLimit = 80

    /// A part of the scene: rows from a call of an operation, or from the latest events.
    public struct Component: Sendable, Hashable {
        /// The id, unique in the scene: see ``isIdentifier(_:)``.
        public var id: String
        /// The title above it.
        public var title: String
        /// How it is drawn.
        public var shape: Shape
        /// The operation whose answer it shows; nil if it shows events.
        public var operation: String?
        /// The arguments of the operation.
        public var arguments: JSONObject
        /// The time from an answer to the next call, while the scene is shown.
        public var interval: Duration
        /// The events whose payloads it shows; empty if it shows an answer.
        public var events: [String]
        /// The members that lead from the answer or payload to the rows; empty if it is itself a row or an array of rows.
        public var rows: [String]
        /// The columns; if empty, each row is shown as JSON.
        public var columns: [Column]
    }

    /// What a component shows of each row.
    public struct Column: Sendable, Hashable {
        /// The heading, or the label of a detail.
        public var title: String
        /// The members that lead from the row to the value.
        public var value: [String]
        /// Whether the value is a number: numbers are right-aligned, and charts draw nothing else.
        public var isNumber: Bool
    }

    /// A way to draw a component; the raw value is the word in JSON.
    public enum Shape: String, Sendable, Hashable, CaseIterable {
        /// Rows below headings.
        case table
        /// A label and a value for each column of the first row.
        case details
        /// A line for each row, newest last.
        case log
        /// The numbers of each column, oldest row first.
        case chart
    }
}
