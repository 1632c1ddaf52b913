// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Every image that this process loaded, by its bytes: loading the same bytes again answers the same image.
final class LoadedImages: Sendable {
    /// The one table; the dynamic linker's is one for the process, too.
    static let shared = LoadedImages()

    /// In the order of loading. A list, for walking it is nothing beside loading an image, which walks all of them, too.
    private let images = Mutex<[(digest: ImageDigest, image: LoadedImage)]>([])
    /// Held while an image loads. Not a `Mutex`, whose waiters keep their processors busy.
    private let loading = Monitor<Void>(())

    /// The image of a digest, loaded now if it was not before.
    ///
    /// A lock is held while the image loads, so that two gates of one plugin that open at once load it once. That
    /// serialises nothing that would be parallel otherwise: the dynamic linker has one lock for all loading itself. An
    /// image's constructors run meanwhile; they know no way back into the host.
    func image<Failure: Error>(
        _ digest: ImageDigest,
        load: () throws(Failure) -> UnsafeMutableRawPointer
    ) throws(Failure) -> LoadedImage {
        try loading.withLock { _ throws(Failure) in
            if let known = self[digest] { return known }
            let image = unsafe LoadedImage(try load())
            images.withLock { $0.append((digest, image)) }
            return image
        }
    }

    /// The image of a digest, if it is loaded.
    subscript(digest: ImageDigest) -> LoadedImage? {
        images.withLock { $0.first { $0.digest == digest }?.image }
    }
}
