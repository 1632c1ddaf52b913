// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Libraries in plugin directories that are not plugins, but belong to one.
package enum PluginLibraries {
    /// The paths of the images without a manifest that usable plugins need, directly or through each other.
    ///
    /// Reads no file if every image has a manifest.
    package static func serving(_ entries: [PluginEntry]) -> Set<String> {
        var libraries = entries.filter { $0.error?.code == .noManifest }.map(\.path)
        guard !libraries.isEmpty else { return [] }
        var serving: Set<String> = []
        var users = entries.compactMap(\.candidate?.path)
        while let user = users.popLast(), !libraries.isEmpty {
            let needed = Set(names(neededBy: user))
            guard !needed.isEmpty else { continue }
            let found = libraries.filter {
                needed.contains($0.lastPathComponent) || soname(of: $0).map(needed.contains) == true
            }
            serving.formUnion(found)
            libraries.removeAll(where: found.contains)
            users += found
        }
        return serving
    }

    private static func names(neededBy path: String) -> [String] {
        guard let (image, dynamic) = contents(path) else { return [] }
        return image.neededLibraries(dynamic)
    }

    private static func soname(of path: String) -> String? {
        contents(path).flatMap { image, dynamic in dynamic.soname.flatMap { image.string(dynamic, at: $0) } }
    }

    private static func contents(_ path: String) -> (image: ELFImage, dynamic: DynamicSection)? {
        guard let bytes = try? ImageBytes(path: path), let image = try? ELFImage(bytes) else { return nil }
        return DynamicSection(image).map { (image, $0) }
    }
}
