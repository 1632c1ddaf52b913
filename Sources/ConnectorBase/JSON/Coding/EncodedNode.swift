// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One place in a JSON text under construction; containers write to it in any order.
final class EncodedNode {
    /// The kind of value in the place.
    enum Form {
        case nothing
        case value(JSONValue)
        case array
        case object
    }

    /// The value written so far.
    private(set) var form = Form.nothing
    /// Whether a value overwrote one of another form.
    private(set) var isTorn = false
    private var nodes: [EncodedNode] = []
    private var names: [String] = []
    private var places: [String: Int] = [:]

    /// How many elements or members there are.
    var count: Int { nodes.count }

    /// Writes the whole value.
    func set(_ value: JSONValue) {
        if case .nothing = form { form = .value(value) } else { isTorn = true }
    }

    /// Makes the place an array, unless it is one.
    func becomeArray() {
        switch form {
        case .nothing: form = .array
        case .array: break
        case .value, .object: isTorn = true
        }
    }

    /// Makes the place an object, unless it is one.
    func becomeObject() {
        switch form {
        case .nothing: form = .object
        case .object: break
        case .value, .array: isTorn = true
        }
    }

    /// A new place at the end of the array.
    func appendElement() -> EncodedNode {
        let node = EncodedNode()
        nodes.append(node)
        return node
    }

    /// A new place for a member, in place of an earlier one of the same name.
    func addMember(_ name: String) -> EncodedNode {
        let node = EncodedNode()
        if let place = places[name] {
            nodes[place] = node
        } else {
            places[name] = nodes.count
            names.append(name)
            nodes.append(node)
        }
        return node
    }

    /// The written value, with an empty object in each place left unwritten.
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
