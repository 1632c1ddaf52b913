// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A suggestion for an unknown name: the closest known name, or all of them.
package func suggestion(for name: String, among known: [String]) -> String? {
    guard !known.isEmpty else { return nil }
    // Two children of a composite may offer the same name.
    let known = known.reduce(into: [String]()) { names, name in if !names.contains(name) { names.append(name) } }
    let closest = known.min { editDistance($0, name) < editDistance($1, name) }
    if let closest, isMisspelling(name, of: closest) {
        return "did you mean \"\(closest)\"?"
    }
    return known.count <= 12 ? "known: \(known.joined(separator: ", "))" : nil
}

/// Whether a name is probably a misspelling of another.
package func isMisspelling(_ name: String, of known: String) -> Bool {
    editDistance(known, name) <= max(1, min(3, name.count / 2))
}

/// How many letters to insert, delete, replace or swap with their neighbour to make one text from the other, in lower
/// case (optimal string alignment distance); long texts count as unlike.
func editDistance(_ first: String, _ second: String) -> Int {
    let first = Array(first.lowercased().utf8)
    let second = Array(second.lowercased().utf8)
    guard first.count <= 64, second.count <= 64 else { return .max }
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
        var current = [row + 1]
        for column in second.indices {
            let isSame = first[row] == second[column]
            var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        beforeLast = last
        last = current
    }
    return last[second.count]
}
