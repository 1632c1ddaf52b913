// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// The plugin-related names in a directory, sorted.
package struct DirectoryListing {
    /// The shared libraries.
    private(set) var images: [String] = []
    /// The sidecars.
    private(set) var sidecars: [String] = []
    /// The folders, except hidden ones.
    private(set) var folders: [String] = []
    /// The shared libraries and sidecars whose names are not UTF-8, repaired.
    private(set) var misnamed: [String] = []

    /// The suffix of image files on this system.
    package static var imageEnding: String {
        #if os(macOS)
            ".dylib"
        #else
            ".so"
        #endif
    }

    /// The suffix of sidecars.
    package static let sidecarEnding = ".connector.json"

    /// Reads a directory.
    package init(path: String) throws(SystemError) {
        for entry in try Directory.entries(of: path) where !entry.name.hasPrefix(".") {
            if entry.isDirectory ?? Self.isDirectory("\(path)/\(entry.name)") {
                folders.append(entry.name)
            } else if entry.bytes != nil {
                let isPlugin = [Self.imageEnding, Self.sidecarEnding].contains { entry.name.hasSuffix($0) }
                if isPlugin { misnamed.append(entry.name) }
            } else if entry.name.hasSuffix(Self.imageEnding) {
                images.append(entry.name)
            } else if entry.name.hasSuffix(Self.sidecarEnding) {
                sidecars.append(entry.name)
            }
        }
        images.sort()
        sidecars.sort()
        folders.sort()
        misnamed.sort()
    }

    /// Whether a path leads to a directory, following symbolic links.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a file of any kind exists at a path.
    package static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }

    /// The names of the images that a sidecar may describe.
    package static func imageNames(forSidecar name: String) -> [String] {
        guard name.hasSuffix(sidecarEnding) else { return [] }
        let stem = name.dropLast(sidecarEnding.utf8.count)
        return ["lib\(stem)\(imageEnding)", "\(stem)\(imageEnding)"]
    }

    /// The names of the sidecars that may describe an image.
    package static func sidecarNames(forImage name: String) -> [String] {
        guard name.hasSuffix(imageEnding) else { return [] }
        let stem = name.dropLast(imageEnding.utf8.count)
        return (stem.hasPrefix("lib") ? ["\(stem.dropFirst(3))\(sidecarEnding)"] : []) + ["\(stem)\(sidecarEnding)"]
    }
}
