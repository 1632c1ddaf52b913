// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An image in any format that may carry a manifest.
package protocol ManifestCarrier {
    /// The file.
    var bytes: ImageBytes { get }

    /// The libraries that the host examines because the image asks for them.
    var neededNames: [String] { get }

    /// Every manifest in the image, as text: none, one, or by mistake several.
    func manifestTexts() -> [[UInt8]]
}
