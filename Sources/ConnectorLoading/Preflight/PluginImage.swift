// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(macOS)
    /// The format of images on this system.
    package typealias PluginImage = MachOImage
#else
    /// The format of images on this system.
    package typealias PluginImage = ELFImage
#endif
