// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The condition that a path must meet for a put to take place.
///
/// A store checks it as part of the put if it can. Otherwise the check comes just before, and of two programs that put a file at the same
/// moment, both may succeed.
public enum FileCondition: Sendable, Hashable {
    /// None: the put replaces an existing file.
    case any
    /// No file exists at the path; HTTP's `If-None-Match: *`.
    case absent
    /// The file at the path has this tag; HTTP's `If-Match`.
    case tag(String)

    /// Whether a file with a tag meets the condition; nil stands for no file.
    package func isMet(by tag: String?) -> Bool {
        switch self {
        case .any: true
        case .absent: tag == nil
        case .tag(let wanted): tag == wanted
        }
    }
}
