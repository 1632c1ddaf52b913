// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One place of a JSON text that is being encoded, into which containers write in any order.
final class EncodedNode {
    /// What stands in the place.
    enum Form {
        case nothing
        case value(JSONValue)
        case array
        case object
    }

    /// What was written so far.
    private(set) var form = Form.nothing
    /// Whether something was written over something else of another form.
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

    /// Makes the place an array, which it may be already.
    func becomeArray() {
        switch form {
        case .nothing: form = .array
        case .array: break
        case .value, .object: isTorn = true
        }
    }

    /// Makes the place an object, which it may be already.
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

    /// A new place for a member; what stood there under the name before is gone.
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

    /// What was written, with an empty object in each place where nothing was.
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
