// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether a file can have the text as its path: it is not empty, not longer than Linux's PATH_MAX, and without NUL.
    var canBePath: Bool { (1...4096).contains(utf8.count) && !utf8.contains(0) }
}
