// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An image in any format that may carry a manifest.
package protocol ManifestCarrier {
    /// The file.
    var bytes: ImageBytes { get }

    /// Every manifest in the image, as text: none, one, or by mistake several.
    func manifestTexts() -> [[UInt8]]
}

extension ELFImage: ManifestCarrier {}

#if os(macOS)
    /// The format of images on this system.
    package typealias PluginImage = MachOImage
#else
    /// The format of images on this system.
    package typealias PluginImage = ELFImage
#endif
