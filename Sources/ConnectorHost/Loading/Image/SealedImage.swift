// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Bytes that were checked, in a place where nobody can change them any more, ready for the dynamic linker.
///
/// This defeats a file that is swapped between check and load, and the crash that overwriting a mapped image in place
/// causes. In memory where the system allows it, otherwise in a private directory that is removed again once loaded.
enum SealedImage {
    /// Where the bytes are put.
    enum Storage: Sendable {
        /// In memory, and in a directory if that is refused.
        case automatic
        /// In a private directory made below this one.
        case directory(String)
    }

    /// How many images were put in memory, for names that never repeat.
    private static let generation = Atomic<UInt64>(0)

    /// Seals bytes and loads them.
    ///
    /// - Throws: ``Failure`` with what the linker or the system said.
    static func load(
        _ bytes: UnsafeRawBufferPointer,
        named name: String,
        digest: ImageDigest,
        storage: Storage = .automatic
    ) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer {
        switch storage {
        case .directory(let parent):
            return unsafe try loadFromDirectory(bytes, digest: digest, below: parent)
        case .automatic:
            #if os(Linux)
                return unsafe try loadFromMemory(bytes, named: name, digest: digest)
            #else
                return unsafe try loadFromDirectory(bytes, digest: digest, below: temporaryDirectory)
            #endif
        }
    }

    #if os(Linux)
        /// Loads from a sealed file in memory.
        ///
        /// Where that is refused, for want of the call, of `/proc`, or of the right to execute such memory, from a directory.
        /// Which of these it was is not asked: an image that is at fault itself fails a second time, and says why the first did.
        private static func loadFromMemory(
            _ bytes: UnsafeRawBufferPointer,
            named name: String,
            digest: ImageDigest
        ) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer {
            var refusal: DynamicLinker.Failure
            do throws(SystemError) {
                let file = try unsafe MemoryFile.sealing(bytes, name: name)
                let number = generation.wrappingAdd(1, ordering: .relaxed).newValue
                do throws(DynamicLinker.Failure) {
                    return unsafe try DynamicLinker.load(
                        path: uniquePath(descriptor: file.descriptor, generation: number)
                    )
                } catch {
                    refusal = error
                }
            } catch {
                refusal = DynamicLinker.Failure(text: "no file in memory: \(error)")
            }
            do throws(DynamicLinker.Failure) {
                return unsafe try loadFromDirectory(bytes, digest: digest, below: temporaryDirectory)
            } catch {
                throw refusal
            }
        }

        private static let processFiles = "/proc/self/fd"

        /// A path to an open file that no other load of this process ever used.
        ///
        /// Glibc answers with the image it has if it knows the path, though the descriptor means another file by now. So the
        /// path spells the generation, a "/" for each 0 of its bits and a "/." for each 1, which mean nothing to the system.
        static func uniquePath(descriptor: Int32, generation: UInt64) -> String {
            var path = processFiles
            var rest = generation
            while rest != 0 {
                path += rest & 1 == 0 ? "/" : "/."
                rest >>= 1
            }
            return path + "/\(descriptor)"
        }
    #endif

    // MARK: Directory

    private static var temporaryDirectory: String {
        guard let value = unsafe getenv("TMPDIR") else { return "/tmp" }
        let path = unsafe String(cString: value)
        return path.hasPrefix("/") ? path : "/tmp"
    }

    /// Loads from a file named after its content in a new directory that only this user can enter; both are gone after.
    private static func loadFromDirectory(
        _ bytes: UnsafeRawBufferPointer,
        digest: ImageDigest,
        below parent: String
    ) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer {
        var template = Array("\(parent)/connector-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else {
            throw DynamicLinker.Failure(text: "no private directory can be made below \(parent): \(SystemError())")
        }
        let directory = unsafe String(cString: made)
        let path = "\(directory)/\(digest).so"
        defer {
            unsafe unlink(path)
            unsafe rmdir(directory)
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o500)
        guard descriptor >= 0 else { throw DynamicLinker.Failure(text: "\(path) cannot be written: \(SystemError())") }
        do throws(SystemError) {
            defer { close(descriptor) }
            try unsafe OutputFile.write(bytes, to: descriptor)
        } catch {
            throw DynamicLinker.Failure(text: "\(path) cannot be written: \(error)")
        }
        return unsafe try DynamicLinker.load(path: path)
    }
}
