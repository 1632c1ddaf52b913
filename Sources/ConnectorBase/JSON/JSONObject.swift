// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, in the order they were written.
///
/// Objects in manifests, configurations and events have few members, which a look-up compares one by one; names are hashed only where
/// there are many. Names that are merely equivalent in Unicode are different names (RFC 8259, section 8.3).
public struct JSONObject: Sendable {
    /// One member.
    public struct Member: Sendable, Hashable {
        /// The member's name, unique within the object.
        public var name: String
        /// The member's value.
        public var value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members, in order.
    public private(set) var members: [Member] = []
    /// Where each of them is; it knows none of an array that was taken as it is, until one is set.
    private var index = MemberIndex()

    /// Creates an empty object.
    public init() {}

    /// Creates an object from members in order; a repeated name keeps its first position and its last value.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        for (name, value) in members { self[name] = value }
    }

    /// Creates an object from members whose names are known to be unique.
    package init(unique members: [Member]) {
        self.members = members
    }

    /// Creates an object from members whose names an index has been asked for, one after the other.
    init(unique members: [Member], _ index: MemberIndex) {
        (self.members, self.index) = (members, index)
    }

    /// The value of the member with a name; setting nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { index.position(of: name, among: members).map { members[$0].value } }
        set {
            guard let newValue else { return remove(name) }
            if let position = index.claim(name, among: members) {
                members[position].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }

    private mutating func remove(_ name: String) {
        guard let position = index.position(of: name, among: members) else { return }
        index.remove(name, at: position, among: members)
        members.remove(at: position)
    }

    /// The names, in order.
    public var names: [String] { members.map(\.name) }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The same object, for many look-ups: its names are hashed, if there are too many to search linearly.
    var indexed: JSONObject {
        var object = self
        object.index.cover(members)
        return object
    }
}

extension JSONObject.Member {
    /// Compares the names' code points, and the values.
    public static func == (left: Self, right: Self) -> Bool {
        ExactText.isSame(left.name, right.name) && left.value == right.value
    }

    /// Hashes the name's code points, and the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(name))
        hasher.combine(value)
    }
}

extension JSONObject: Hashable {
    /// Compares members in any order, since JSON gives order no meaning.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.members.count == right.members.count else { return false }
        let right = right.indexed
        return left.members.allSatisfy { right[$0.name] == $0.value }
    }

    /// Hashes without regard to order.
    public func hash(into hasher: inout Hasher) {
        // A `Set` of the members would hash each of them twice, and nested values again at every level.
        hasher.combine(members.reduce(0) { $0 ^ $1.hashValue })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object; a repeated name keeps its last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
    }
}
