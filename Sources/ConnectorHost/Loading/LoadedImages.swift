// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Every image that this process loaded, by its bytes: loading the same bytes again answers the same image.
final class LoadedImages: Sendable {
    /// The one table; the dynamic linker's is one for the process, too.
    static let shared = LoadedImages()

    private let images = Mutex<[ImageDigest: LoadedImage]>([:])

    /// The image of a digest, loaded now if it was not before.
    ///
    /// The lock is held while the image loads, so that two gates of one plugin that open at once load it once. That
    /// serialises nothing that would be parallel otherwise: the dynamic linker has one lock for all loading itself. An
    /// image's constructors run meanwhile; they know no way back into the host.
    func image<Failure: Error>(
        _ digest: ImageDigest,
        load: () throws(Failure) -> UnsafeMutableRawPointer
    ) throws(Failure) -> LoadedImage {
        try images.withLock { images throws(Failure) in
            if let known = images[digest] { return known }
            let image = unsafe LoadedImage(try load())
            images[digest] = image
            return image
        }
    }

    /// The image of a digest, if it is loaded.
    subscript(digest: ImageDigest) -> LoadedImage? {
        images.withLock { $0[digest] }
    }
}
