// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

/// A library that a plugin has brought along from beside its image, as it was when it was read.
package struct LibraryBeside: Sendable, Hashable {
    /// Its file.
    package let path: String
    /// The state of the file.
    package let stamp: FileStamp

    /// Whether the file is still the same.
    package var isCurrent: Bool { FileStamp(path: path) == stamp }
}
