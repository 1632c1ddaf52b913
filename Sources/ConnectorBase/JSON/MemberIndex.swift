// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds repeated names while an object's members are collected.
///
/// A linear search beats hashing for a few members, and is quadratic for many.
struct MemberIndex {
    /// The number of members up to which names are searched linearly.
    static let linearLimit = 16

    private var positions: [ExactText: Int] = [:]

    /// The position of the member with a name; nil if there is none, and then the caller must append one.
    mutating func position(of name: String, among members: [JSONObject.Member]) -> Int? {
        guard members.count >= Self.linearLimit else {
            return members.firstIndex { ExactText.isSame($0.name, name) }
        }
        if positions.isEmpty {
            for (position, member) in members.enumerated() { positions[ExactText(member.name)] = position }
        }
        guard let earlier = positions.updateValue(members.count, forKey: ExactText(name)) else { return nil }
        positions[ExactText(name)] = earlier
        return earlier
    }
}
