// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A language that a project may be written in.
package enum ProjectLanguage: String, Sendable, CaseIterable {
    case c
    case cpp
    case rust
    case swift

    /// The language's name, for people.
    var name: String {
        switch self {
        case .c: "C"
        case .cpp: "C++"
        case .rust: "Rust"
        case .swift: "Swift"
        }
    }
}
