// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object, in the order they were written.
///
/// Look-up is linear, because objects in manifests, configurations and events have few members. Names that are merely
/// equivalent in Unicode are different names (RFC 8259, section 8.3).
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

    /// Creates an empty object.
    public init() {}

    /// Creates an object from members in order; a repeated name keeps its first position and its last value.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        var names = MemberIndex()
        for (name, value) in members {
            if let position = names.position(of: name, among: self.members) {
                self.members[position].value = value
            } else {
                self.members.append(Member(name: name, value: value))
            }
        }
    }

    /// Creates an object from members whose names are known to be unique.
    package init(unique members: [Member]) {
        self.members = members
    }

    /// The value of the member with a name; setting nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { members.first { ExactText.isSame($0.name, name) }?.value }
        set {
            let index = members.firstIndex { ExactText.isSame($0.name, name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The names, in order.
    public var names: [String] { members.map(\.name) }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The values by name, if there are too many for linear look-ups; nil otherwise.
    var index: [ExactText: JSONValue]? {
        guard members.count > MemberIndex.linearLimit else { return nil }
        return Dictionary(members.map { (ExactText($0.name), $0.value) }, uniquingKeysWith: { first, _ in first })
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
        let index = right.index
        return left.members.allSatisfy { member in
            (index.map { $0[ExactText(member.name)] } ?? right[member.name]) == member.value
        }
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
