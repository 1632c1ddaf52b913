// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The most known names to compare a wrong name with; each comparison takes up to a few microseconds.
private let comparisonLimit = 400

/// A suggestion for an unknown name: the closest known name, or else all known names if there are at most 12.
package func suggestion(for name: String, among known: some Sequence<String>) -> String? {
    let known = Array(known.prefix(20 * comparisonLimit))
    if let meant = nameMeant(by: name, among: known) { return "did you mean \"\(meant)\"?" }
    var few: [String] = []
    // Two children of a composite may provide the same name.
    for candidate in known where !few.contains(candidate) {
        guard few.count < 12 else { return nil }
        few.append(candidate)
    }
    return few.isEmpty ? nil : "known: \(few.map(\.excerpt).joined(separator: ", "))"
}

/// The known name that is closest to a misspelt one; nil if none is close. Compares only the first names that are about as long.
package func nameMeant(by name: String, among known: [String]) -> String? {
    var closest: (name: String, distance: Int)?
    for candidate in known.lazy.filter({ isComparable($0, name) }).prefix(comparisonLimit) {
        let distance = editDistance(candidate, name)
        if distance < closest?.distance ?? .max { closest = (candidate, distance) }
    }
    return closest.flatMap { isMisspelling(name, of: $0.name) ? $0.name : nil }
}

/// Whether a name is probably a misspelling of another.
package func isMisspelling(_ name: String, of known: String) -> Bool {
    isComparable(known, name) && editDistance(known, name) <= max(1, min(3, name.count / 2))
}

/// Whether two names are short enough to compare, and close enough in length for one to be a misspelling of the other.
private func isComparable(_ first: String, _ second: String) -> Bool {
    let (first, second) = (first.utf8.count, second.utf8.count)
    // The difference allows for letters beyond ASCII, which take up to four bytes.
    return first <= 64 && second <= 64 && abs(first - second) <= 12
}

/// The optimal string alignment distance in bytes, ignoring case: how many insertions, deletions, replacements and
/// swaps of neighbors turn one text into the other; `Int.max` if either is longer than 64 bytes.
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
