// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// The images that this process loaded, by their bytes: loading the same bytes again returns the same image.
package final class LoadedImages: Sendable {
    /// The table of this process; the dynamic linker also has one per process.
    package static let shared = LoadedImages()

    /// The images with the checksums of their bytes.
    ///
    /// An array: searching a thousand entries takes less time than a dictionary's first use.
    private let images = Mutex<[(checksum: UInt64, image: LoadedImage)]>([])
    /// Held while an image loads. Not a `Mutex`, whose waiters would spin.
    private let loading = Monitor<Void>(())

    /// The image of these bytes, loaded if necessary. Blocks the calling thread.
    ///
    /// Holds a lock while the image loads, so that two gates of one plugin that open concurrently load it once. This
    /// costs no concurrency, because the dynamic linker has one lock for all loading. An image's constructors run under
    /// the lock, but cannot call into the host.
    package func image<Failure: Error>(
        of bytes: UnsafeRawBufferPointer,
        load: () throws(Failure) -> LoadedImage
    ) throws(Failure) -> LoadedImage {
        try loading.withLock { _ throws(Failure) in
            let checksum = unsafe Self.checksum(bytes)
            if let known = unsafe known(bytes, checksum) { return known }
            let image = try load()
            images.withLock { $0.append((checksum, image)) }
            return image
        }
    }

    /// The image of these bytes, if it is loaded.
    private func known(_ bytes: UnsafeRawBufferPointer, _ checksum: UInt64) -> LoadedImage? {
        let candidates = images.withLock { images in
            images.compactMap { $0.checksum == checksum ? $0.image : nil }
        }
        return candidates.first { unsafe $0.content.isEqual(to: bytes) }
    }

    /// A fast checksum that distinguishes nearly all images; equal ones are compared byte by byte.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count)
        for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
            unsafe sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        return sum
    }
}
