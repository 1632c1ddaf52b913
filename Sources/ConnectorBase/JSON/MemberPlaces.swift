// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Finds repeated names while an object's members are collected.
///
/// A linear search beats hashing for a few members, and is quadratic for many.
struct MemberPlaces {
    /// The number of members up to which names are searched linearly.
    static let linearLimit = 16

    private var places: [ExactText: Int] = [:]

    /// The place of the member with a name; nil if there is none, and then the caller must append one.
    mutating func place(of name: String, among members: [JSONObject.Member]) -> Int? {
        guard members.count >= Self.linearLimit else {
            return members.firstIndex { ExactText.isSame($0.name, name) }
        }
        if places.isEmpty {
            for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
        }
        guard let earlier = places.updateValue(members.count, forKey: ExactText(name)) else { return nil }
        places[ExactText(name)] = earlier
        return earlier
    }
}
