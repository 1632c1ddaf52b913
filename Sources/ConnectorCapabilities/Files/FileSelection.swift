// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The files that a list selects: those whose paths start with one text and sort after another, by their bytes.
package struct FileSelection: Sendable, Hashable {
    /// What the paths start with; empty for all.
    package var prefix: String
    /// What the paths sort after; empty for all.
    package var after: String

    /// Creates a selection.
    package init(prefix: String, after: String) {
        self.prefix = prefix
        self.after = after
    }

    /// Whether the selection includes a path.
    package func includes(_ path: String) -> Bool {
        path.utf8.starts(with: prefix.utf8) && after.utf8.lexicographicallyPrecedes(path.utf8)
    }

    /// Whether the selection may include paths below a directory, whose own path ends with a slash.
    ///
    /// Always true if the selection would include a file in the directory's place.
    package func mayInclude(below directory: String) -> Bool {
        let (directory, prefix, after) = (directory.utf8, prefix.utf8, after.utf8)
        return (directory.starts(with: prefix) || prefix.starts(with: directory))
            && (after.lexicographicallyPrecedes(directory) || after.starts(with: directory))
    }
}
