// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One of the two configurations that a plan compares, with what is known of its images and queues.
package struct PlanSide: Sendable {
    /// The configuration.
    package var resolved: ResolvedConfiguration
    /// The digest of its files.
    package var digest: String
    /// The images of its leaves, by path; a leaf without a usable image has none.
    package var images: [String: PlannedImage]
    /// How many events wait for each connector, by path.
    package var queued: [String: Int]

    /// Describes a side.
    package init(
        _ resolved: ResolvedConfiguration,
        digest: String,
        images: [String: PlannedImage] = [:],
        queued: [String: Int] = [:]
    ) {
        self.resolved = resolved
        self.digest = digest
        self.images = images
        self.queued = queued
    }
}

/// The image of a leaf's plugin.
package struct PlannedImage: Sendable, Hashable {
    /// The file.
    package var path: String
    /// The mark that distinguishes its bytes from those of another image, as shown: the beginning of their digest, or
    /// of another mark.
    package var mark: String
    /// Whether the process has loaded these bytes.
    package var isLoaded: Bool
    /// The size of the file, in bytes.
    package var size: Int
    /// The bytes of static TLS that it takes.
    package var staticTLS: Int
    /// The bytes of static TLS that the process has left; nil where there is no limit.
    package var staticTLSLeft: Int?

    /// Describes an image.
    package init(
        path: String,
        mark: String,
        isLoaded: Bool,
        size: Int = 0,
        staticTLS: Int = 0,
        staticTLSLeft: Int? = nil
    ) {
        self.path = path
        self.mark = mark
        self.isLoaded = isLoaded
        self.size = size
        self.staticTLS = staticTLS
        self.staticTLSLeft = staticTLSLeft
    }
}
