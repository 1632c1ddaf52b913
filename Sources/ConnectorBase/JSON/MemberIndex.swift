// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where the members of an object are, by name.
///
/// A linear search beats hashing for a few members, and is quadratic for many.
struct MemberIndex: Sendable {
    /// The number of members up to which names are searched linearly.
    static let linearLimit = 16

    /// The position of every member by its name; nil while names are searched linearly.
    private var positions: [ExactText: Int]?

    /// The position of the member with a name; nil if there is none.
    func position<Members: RandomAccessCollection>(of name: String, among members: Members) -> Int?
    where Members.Element == JSONObject.Member, Members.Index == Int {
        guard let positions else { return members.firstIndex { ExactText.isSame($0.name, name) } }
        return positions[ExactText(name)]
    }

    /// The position of the member with a name; nil if there is none, and then the caller must append one.
    mutating func claim<Members: RandomAccessCollection>(_ name: String, among members: Members) -> Int?
    where Members.Element == JSONObject.Member, Members.Index == Int {
        cover(members)
        guard positions != nil else { return position(of: name, among: members) }
        guard let earlier = positions?.updateValue(members.count, forKey: ExactText(name)) else { return nil }
        positions?[ExactText(name)] = earlier
        return earlier
    }

    /// Forgets a member; the caller must remove it.
    mutating func remove(_ name: String, at position: Int, among members: [JSONObject.Member]) {
        guard position == members.count - 1 else {
            // The members after it move.
            positions = nil
            return
        }
        positions?[ExactText(name)] = nil
    }

    /// Hashes the names, if there are too many to search linearly.
    mutating func cover<Members: RandomAccessCollection>(_ members: Members)
    where Members.Element == JSONObject.Member, Members.Index == Int {
        guard positions == nil, members.count >= Self.linearLimit else { return }
        var positions: [ExactText: Int] = [:]
        for position in members.indices { positions[ExactText(members[position].name)] = position }
        self.positions = positions
    }
}
