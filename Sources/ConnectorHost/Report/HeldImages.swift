// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The images of one plugin file in the memory of a process, where they stay until the process ends.
///
/// There are several if the file was replaced while the host ran.
package struct HeldImages: Sendable, Hashable {
    /// The file that they were read from.
    package var path: String
    /// The images, the earliest first.
    package var images: [Image]

    /// One image.
    package struct Image: Sendable, Hashable {
        /// The plugin with its version.
        package var plugin: String
        /// The size of the file in bytes, which is about what the image takes in memory.
        package var bytes: Int
        /// The connectors whose instances use the image.
        package var connectors: [String]
    }

    /// The number and size of the images, for people: `3 images in memory, 61 KB, 2 of them in no use`.
    package var text: String {
        let bytes = images.reduce(0) { $0 + $1.bytes }
        let unused = images.count { $0.connectors.isEmpty }
        let size = bytes < 1_000_000 ? "\((bytes + 999) / 1000) KB" : Int64(bytes).megabytes
        let count = images.count == 1 ? "1 image" : "\(images.count) images"
        return "\(count) in memory, \(size)" + (unused == 0 ? "" : ", \(unused) of them in no use")
    }

    /// The document.
    package var json: JSONValue {
        [
            "path": .string(path),
            "images": .array(
                images.map { image in
                    [
                        "plugin": .string(image.plugin), "bytes": .integer(Int64(image.bytes)),
                        "connectors": .array(image.connectors.map(JSONValue.string)),
                    ]
                }
            ),
        ]
    }

    /// Describes the images of a file.
    package init(path: String, images: [Image]) {
        self.path = path
        self.images = images
    }

    /// Reads a document; nil if a member is missing.
    package init?(json: JSONValue) {
        guard let path = json["path"]?.string, let images = json["images"]?.array else { return nil }
        self.path = path
        self.images = images.compactMap { image in
            guard let plugin = image["plugin"]?.string, let bytes = image.count("bytes") else { return nil }
            let connectors = image["connectors"]?.array?.compactMap(\.string) ?? []
            return Image(plugin: plugin, bytes: bytes, connectors: connectors)
        }
    }
}
