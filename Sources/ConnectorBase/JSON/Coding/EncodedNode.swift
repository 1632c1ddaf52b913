// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One place in a JSON text under construction; containers write to it in any order.
final class EncodedNode {
    /// The kind of value written so far.
    enum Form {
        case nothing
        case value(JSONValue)
        case array
        case object
    }

    /// The value written so far.
    private(set) var form = Form.nothing
    /// Whether two forms of value were written here, which is an error.
    private(set) var isTorn = false
    private var nodes: [EncodedNode] = []
    private var names: [String] = []
    private var places: [ExactText: Int] = [:]

    /// How many elements or members there are.
    var count: Int { nodes.count }

    /// Writes the whole value.
    func set(_ value: JSONValue) {
        if case .nothing = form { form = .value(value) } else { isTorn = true }
    }

    /// Begins an array, unless one has begun.
    func becomeArray() {
        switch form {
        case .nothing: form = .array
        case .array: break
        case .value, .object: isTorn = true
        }
    }

    /// Begins an object, unless one has begun.
    func becomeObject() {
        switch form {
        case .nothing: form = .object
        case .object: break
        case .value, .array: isTorn = true
        }
    }

    /// Appends an unwritten element to the array.
    func appendElement() -> EncodedNode {
        let node = EncodedNode()
        nodes.append(node)
        return node
    }

    /// Adds an unwritten member, replacing an earlier one of the same name.
    func addMember(_ name: String) -> EncodedNode {
        let node = EncodedNode()
        if let place = places[ExactText(name)] {
            nodes[place] = node
        } else {
            places[ExactText(name)] = nodes.count
            names.append(name)
            nodes.append(node)
        }
        return node
    }

    /// The written value; an unwritten node becomes an empty object.
    var json: JSONValue {
        switch form {
        case .nothing: .object(JSONObject())
        case .value(let value): value
        case .array: .array(nodes.map(\.json))
        case .object:
            .object(JSONObject(unique: zip(names, nodes).map { JSONObject.Member(name: $0, value: $1.json) }))
        }
    }
}
