// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The libraries that an image finds relative to its own file (`$ORIGIN`), and would miss from a sealed copy.
package enum OriginRelatives {
    /// The files to seal together with an image; empty for nearly every image, at the cost of a few look-ups.
    package static func files(of image: ELFImage, _ dynamic: DynamicSection) -> [ImageBytes] {
        guard mayHaveSome(image, dynamic) else { return [] }
        let members = DependencyClosure(of: image, dynamic).members
        var files: [ImageBytes] = []
        // A library of such a library is found relative to that one's copy, so it must be there too.
        for member in members where member.isRelativeToOrigin && !member.isLoaded {
            if let bytes = member.contents?.image.bytes { files.append(bytes) }
        }
        return files
    }

    /// Whether a needed name exists in a folder relative to the image.
    private static func mayHaveSome(_ image: ELFImage, _ dynamic: DynamicSection) -> Bool {
        guard let index = dynamic.runpath ?? dynamic.rpath, let list = image.string(dynamic, at: index),
            list.contains("ORIGIN")
        else { return false }
        let origin = image.bytes.path.absolutePath.parentPath
        let folders = list.split(separator: ":").map { LibrarySearch.expand(String($0), origin: origin) }
        return image.neededLibraries(dynamic).contains { name in
            folders.contains { $0.isRelative && DirectoryListing.exists("\($0.path)/\(name)") }
        }
    }
}
