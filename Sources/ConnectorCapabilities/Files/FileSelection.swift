// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The files that a list asks for: those whose paths start with a text and come after another, by their bytes.
package struct FileSelection: Sendable, Hashable {
    /// What the paths start with; empty for all.
    package var prefix: String
    /// What the paths come after; empty for all.
    package var after: String

    /// Creates a selection.
    package init(prefix: String, after: String) {
        self.prefix = prefix
        self.after = after
    }

    /// Whether a path is asked for.
    package func includes(_ path: String) -> Bool {
        path.utf8.starts(with: prefix.utf8) && after.utf8.lexicographicallyPrecedes(path.utf8)
    }

    /// Whether paths that begin with a directory's, which ends with a slash, may be asked for.
    ///
    /// If the path of a file at the same place is asked for, this is true of the directory, too.
    package func mayInclude(below directory: String) -> Bool {
        let (directory, prefix, after) = (directory.utf8, prefix.utf8, after.utf8)
        return (directory.starts(with: prefix) || prefix.starts(with: directory))
            && (after.lexicographicallyPrecedes(directory) || after.starts(with: directory))
    }
}
