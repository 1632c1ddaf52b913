// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The names of values that a vendor keeps side by side, so that no value takes another one's place without a word.
package struct FreeNames {
    private var taken: Set<String>

    /// Begins with the names that values of the application cannot have.
    package init(taken: Set<String> = []) {
        self.taken = taken
    }

    /// Takes a name, or if it is taken the first free one that adds `_`.
    package mutating func take(_ name: String) -> String {
        var free = name
        while !taken.insert(free).inserted { free += "_" }
        return free
    }
}
