// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds the positions of values in a JSON text by reading the text a second time, once for all of them.
///
/// Only errors need positions, so parsing does not record them. Locating any number of errors costs one more pass. Text
/// that does not parse has positions too, as far as its structure can be guessed.
package struct JSONLocator: Sendable {
    /// The part of a member to locate.
    package enum Part: Sendable {
        /// The member's name, for an unknown or duplicate member.
        case name
        /// The member's value.
        case value
    }

    /// A value; nodes are in text order, so a container precedes its contents.
    private struct Node {
        /// The offset of the value.
        var value: UInt32
        /// The offset of the member's name; that of the value if it has no name.
        var name: UInt32
        /// The index of the first node after this one and its contents.
        var end: Int32 = 0
    }

    /// The children of one container, by name or index.
    private enum Children {
        case members([ExactText: Int])
        case elements([Int])
    }

    private let text: [UInt8]
    private let lines: LineTable
    private var nodes: [Node] = []
    /// The containers that look-ups have visited, each read once.
    private var children: [Int: Children] = [:]
    /// How many bytes and values were examined so far; grows with the text, not with the number of positions.
    package private(set) var steps = 0

    /// Reads a text.
    package init(_ text: [UInt8]) {
        self.text = text
        lines = LineTable(text)
        var scanner = Scanner(text: text)
        nodes = scanner.nodes()
        steps = text.count
    }

    /// The position of a single value at a path, or of the deepest existing value on the way.
    package static func position(
        of path: JSONPath,
        _ part: Part = .value,
        in text: [UInt8],
        file: String = ""
    ) -> FilePosition {
        var locator = JSONLocator(text)
        return locator.position(of: path, part, file: file)
    }

    /// The position of the value at a path, or of the deepest existing value on the way.
    package mutating func position(of path: JSONPath, _ part: Part = .value, file: String = "") -> FilePosition {
        guard !nodes.isEmpty else { return lines.position(of: 0, in: text, file: file) }
        var node = 0
        var offset = nodes[0].value
        for (number, step) in path.steps.enumerated() {
            guard let child = child(step, of: node) else { break }
            node = child
            let wantsName = part == .name && number == path.steps.count - 1
            offset = wantsName ? nodes[node].name : nodes[node].value
        }
        return lines.position(of: Int(offset), in: text, file: file)
    }

    private mutating func child(_ step: JSONPath.Step, of node: Int) -> Int? {
        let known = children[node] ?? readChildren(of: node)
        children[node] = known
        switch (known, step) {
        case (.members(let members), .name(let name)): return members[ExactText(name)]
        case (.elements(let elements), .index(let index)):
            return elements.indices.contains(index) ? elements[index] : nil
        default: return nil
        }
    }

    private mutating func readChildren(of node: Int) -> Children {
        let isObject = text[Int(nodes[node].value)] == UInt8(ascii: "{")
        var members: [ExactText: Int] = [:]
        var elements: [Int] = []
        var child = node + 1
        while child < Int(nodes[node].end) {
            steps += 1
            if isObject {
                if let name = name(of: nodes[child]).map(ExactText.init), members[name] == nil { members[name] = child }
            } else {
                elements.append(child)
            }
            child = Int(nodes[child].end)
        }
        return isObject ? .members(members) : .elements(elements)
    }

    private func name(of node: Node) -> String? {
        var scanner = Scanner(text: text, index: Int(node.name))
        scanner.skipString()
        let content = text[
            min(Int(node.name) + 1, text.count)..<max(min(Int(node.name) + 1, text.count), scanner.index - 1)
        ]
        if !content.contains(UInt8(ascii: "\\")) { return String(decoding: content, as: UTF8.self) }
        return (try? JSONValue(parsing: Array(text[Int(node.name)..<min(scanner.index, text.count)])))?.string
    }

    /// Finds the values of a text in one pass.
    private struct Scanner {
        let text: [UInt8]
        var index = 0

        /// Every value, in the order of the text.
        mutating func nodes() -> [Node] {
            var nodes: [Node] = []
            var open: [Int] = []
            var name: Int?
            func add(_ start: Int) {
                nodes.append(Node(value: UInt32(clamping: start), name: UInt32(clamping: name ?? start)))
                nodes[nodes.count - 1].end = Int32(clamping: nodes.count)
                name = nil
            }
            while index < text.count {
                let start = index
                switch text[index] {
                case 0x20, 0x0A, 0x0D, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"): index += 1
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    add(start)
                    open.append(nodes.count - 1)
                    index += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if let container = open.popLast() { nodes[container].end = Int32(clamping: nodes.count) }
                    index += 1
                case UInt8(ascii: "\""):
                    skipString()
                    let isMember = open.last.map { text[Int(nodes[$0].value)] == UInt8(ascii: "{") } ?? false
                    if isMember, name == nil { name = start } else { add(start) }
                default:
                    while index < text.count, !",:}]{[\" \n\r\t".utf8.contains(text[index]) { index += 1 }
                    add(start)
                }
            }
            for container in open { nodes[container].end = Int32(clamping: nodes.count) }
            return nodes
        }

        /// Moves past a string; to the end of the text if the string is unterminated.
        mutating func skipString() {
            index += 1
            while index < text.count, text[index] != UInt8(ascii: "\"") {
                index += text[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index = min(index + 1, text.count)
        }
    }
}
