// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The path from the root of a JSON text to a value in it.
public struct JSONPath: Sendable, Hashable, CustomStringConvertible {
    /// One step from a container to a child.
    package enum Step: Sendable, Hashable {
        case name(String)
        case index(Int)
    }

    /// The steps from the root.
    package var steps: [Step] = []

    /// The text that contains the value, as an index in ``JSONReader/texts``.
    package var text = 0

    /// The root.
    public init() {}

    /// The root of one of several texts.
    ///
    /// - Parameter text: The index in ``JSONReader/texts``.
    package init(text: Int) {
        self.text = text
    }

    /// One step further: the member of an object.
    package func appending(_ name: String) -> JSONPath {
        var path = self
        path.steps.append(.name(name))
        return path
    }

    /// One step further: the element of an array.
    package func appending(_ index: Int) -> JSONPath {
        var path = self
        path.steps.append(.index(index))
        return path
    }

    /// One step back; the root stays the root.
    package var parent: JSONPath {
        var path = self
        _ = path.steps.popLast()
        return path
    }

    /// The path in JavaScript notation: `connectors[0].config.endpoint`; `.` for the root. Long names are cut.
    public var description: String {
        let text = steps.reduce(into: "") { text, step in
            switch step {
            case .name(let name): text += text.isEmpty ? name.excerpt : ".\(name.excerpt)"
            case .index(let index): text += "[\(index)]"
            }
        }
        return text.isEmpty ? "." : text
    }
}
