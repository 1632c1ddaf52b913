// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorDigest
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The bytes of a loaded image, with their SHA-256 on demand.
///
/// Hashing costs a fifth of the time of loading, which does not need the digest. Sealed bytes can be hashed at any
/// time, and stay mapped until then.
package final class ImageContent: Sendable {
    /// The bytes, or their digest once it is computed.
    private enum State: Sendable {
        /// The address of the mapping.
        case mapped(UInt, count: Int)
        case hashed(SHA256Digest)
    }

    private let state: Mutex<State>

    /// Hashes bytes immediately, because they will not stay in memory.
    package init(hashing bytes: UnsafeRawBufferPointer) {
        state = Mutex(.hashed(unsafe SHA256Digest(of: bytes)))
    }

    #if os(Linux)
        /// Takes ownership of a mapping of sealed bytes.
        package init(mapped bytes: UnsafeRawBufferPointer) {
            state = Mutex(.mapped(UInt(bitPattern: bytes.baseAddress), count: bytes.count))
        }
    #endif

    deinit {
        state.withLock { state in
            guard case .mapped(let address, let count) = state else { return }
            unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), count)
        }
    }

    /// The SHA-256, computed on first use.
    package var digest: SHA256Digest {
        state.withLock { state in
            switch state {
            case .hashed(let digest): return digest
            case .mapped(let address, let count):
                let bytes = unsafe UnsafeMutableRawPointer(bitPattern: address)
                let digest = unsafe SHA256Digest(of: UnsafeRawBufferPointer(start: bytes, count: count))
                state = .hashed(digest)
                unsafe munmap(bytes, count)
                return digest
            }
        }
    }

    /// The SHA-256 in hexadecimal, as sha256sum(1) prints it.
    package var sha256: String { digest.description }

    /// Whether the content equals these bytes.
    package func isEqual(to bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            switch state {
            case .hashed(let digest): return unsafe digest == SHA256Digest(of: bytes)
            case .mapped(let address, let count):
                guard count == bytes.count, let base = bytes.baseAddress,
                    let mapped = unsafe UnsafeRawPointer(bitPattern: address)
                else { return false }
                return unsafe memcmp(mapped, base, count) == 0
            }
        }
    }
}

extension ImageContent: Hashable {
    /// Whether the bytes are the same.
    package static func == (first: ImageContent, second: ImageContent) -> Bool {
        first === second || first.digest == second.digest
    }

    /// Hashes the digest of the bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}
