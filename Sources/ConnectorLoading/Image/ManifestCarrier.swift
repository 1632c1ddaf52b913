// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An image in any format that may carry a manifest.
package protocol ManifestCarrier {
    /// The file.
    var bytes: ImageBytes { get }
    /// The name that the image gives itself, by which the dynamic linker knows it once it is loaded; nil if it has none.
    var libraryName: String? { get }

    /// Every manifest in the image, as text; more than one is an error.
    func manifestTexts() -> [[UInt8]]
}
