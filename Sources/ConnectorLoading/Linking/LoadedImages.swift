// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

/// The images that this process loaded, by their bytes: loading the same bytes again returns the same image.
package final class LoadedImages: Sendable {
    /// The table of this process; the dynamic linker also has one per process.
    package static let shared = LoadedImages()

    /// An image, and what was known when it was loaded.
    private typealias Entry = (checksum: UInt64, image: LoadedImage, staticTLS: Int, warnings: [String], held: Held)

    /// The images with the checksums of their bytes.
    ///
    /// An array: searching a thousand entries takes less time than a dictionary's first use.
    private let images = Mutex<[Entry]>([])
    private let total = Mutex(Usage())

    /// The resources that the images of a process take and keep until it ends.
    package struct Usage: Sendable, Hashable {
        /// How many images are loaded.
        package var count = 0
        /// The total size of their files, in bytes: about what they take in memory.
        package var bytes = 0
        /// How many of them take static TLS.
        package var staticTLSCount = 0
        /// The bytes of static TLS that they take.
        package var staticTLS = 0

        /// Whether half of the static TLS is used up.
        package var isStaticTLSHalfUsed: Bool { StaticTLS.limit.map { staticTLS * 2 >= $0 } ?? false && staticTLS > 0 }

        /// The bytes of static TLS that are left; nil where there is no limit.
        package var staticTLSLeft: Int? { StaticTLS.limit.map { max(0, $0 - staticTLS) } }
    }

    /// An image in memory, described for people.
    package struct Held: Sendable {
        /// The plugin with its version, or the name of a library.
        package let name: String
        /// The file that the bytes were read from, which may have changed since.
        package let path: String
        /// The size of the file, in bytes.
        package let size: Int
        /// The bytes that were loaded.
        package let content: ImageContent
    }

    /// The images in memory, in the order in which they were loaded.
    package var held: [Held] { images.withLock { $0.map(\.held) } }

    /// The bytes of static TLS that an image takes; 0 for most.
    package func staticTLS(of content: ImageContent) -> Int {
        images.withLock { images in images.first { $0.image.content === content }?.staticTLS ?? 0 }
    }

    /// The warnings about the libraries that an image uses; none for most.
    package func warnings(of content: ImageContent) -> [String] {
        images.withLock { images in images.first { $0.image.content === content }?.warnings ?? [] }
    }

    /// The resources that the images take.
    package var usage: Usage { total.withLock(\.self) }
    /// Held while an image loads. Not a `Mutex`, whose waiters would spin.
    private let loading = Monitor<Void>(())

    /// The image of these bytes, loaded if necessary. Blocks the calling thread.
    ///
    /// Holds a lock while the image loads, so that two gates of one plugin that open concurrently load it once. This
    /// costs no concurrency, because the dynamic linker has one lock for all loading. An image's constructors run under
    /// the lock, but cannot call into the host.
    ///
    /// - Parameters:
    ///   - name: The plugin with its version, or the name of a library.
    ///   - path: The file that the bytes were read from.
    ///   - staticTLS: The bytes of static TLS that the image and its libraries take.
    ///   - warnings: The warnings about the libraries that the image uses.
    ///   - load: Loads the image.
    package func image<Failure: Error>(
        of bytes: UnsafeRawBufferPointer,
        name: String,
        path: String,
        staticTLS: Int = 0,
        warnings: [String] = [],
        load: () throws(Failure) -> LoadedImage
    ) throws(Failure) -> LoadedImage {
        try loading.withLock { _ throws(Failure) in
            let checksum = unsafe Self.checksum(bytes)
            if let known = unsafe known(bytes, checksum) { return known }
            let image = try load()
            let held = Held(name: name, path: path, size: bytes.count, content: image.content)
            images.withLock { $0.append((checksum, image, staticTLS, warnings, held)) }
            total.withLock { total in
                total.count += 1
                total.bytes += bytes.count
                total.staticTLSCount += staticTLS > 0 ? 1 : 0
                total.staticTLS += staticTLS
            }
            return image
        }
    }

    /// Whether an image of the bytes of a file is loaded.
    func contains(_ file: ImageBytes) -> Bool {
        unsafe file.withAllBytes { unsafe known($0, Self.checksum($0)) != nil } ?? false
    }

    /// The image of these bytes, if it is loaded.
    private func known(_ bytes: UnsafeRawBufferPointer, _ checksum: UInt64) -> LoadedImage? {
        let candidates = images.withLock { images in
            images.compactMap { $0.checksum == checksum ? $0.image : nil }
        }
        return candidates.first { unsafe $0.content.isEqual(to: bytes) }
    }

    /// A fast checksum that distinguishes nearly all images; equal ones are compared byte by byte.
    ///
    /// Pointers make it fast even without optimization: tests are built that way, and load images of several megabytes.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count)
        guard let start = bytes.baseAddress else { return sum }
        var word = unsafe start.assumingMemoryBound(to: UInt64.self)
        let end = unsafe word + bytes.count / 8
        while unsafe word < end {
            unsafe sum &+= word.pointee
            unsafe word = word.successor()
        }
        return sum
    }
}
