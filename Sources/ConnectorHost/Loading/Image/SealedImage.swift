// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bytes that were checked, in a place where nobody can change them any more, ready for the dynamic linker.
///
/// This defeats a file that is swapped between check and load, and the crash that overwriting a mapped image in place
/// causes. In memory where the system allows it, otherwise in a private directory that is removed again once loaded.
struct SealedImage {
    /// Where the bytes are put.
    enum Storage: Sendable {
        /// In memory, and in a directory if that is refused.
        case automatic
        /// In a private directory made below this one.
        case directory(String)
    }

    /// The file that the bytes were read from: its last part is the name that debuggers and crash reports show.
    let path: String
    /// What the bytes are.
    let digest: ImageDigest
    /// Libraries that the image finds relative to its own file.
    let relatives: [ImageBytes]
    /// Where to put the bytes.
    let storage: Storage

    /// How many images were put in memory, for names that never repeat.
    private static let generation = Atomic<UInt64>(0)

    /// Seals the image's bytes and loads them.
    ///
    /// - Throws: What the linker or the system said.
    func load(_ bytes: UnsafeRawBufferPointer) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer {
        switch storage {
        case .directory(let parent):
            return unsafe try loadFromDirectory(bytes, below: parent)
        case .automatic:
            #if os(Linux)
                if relatives.isEmpty { return unsafe try loadFromMemory(bytes) }
            #endif
            return unsafe try loadFromDirectory(bytes, below: PrivateDirectory.usualParent)
        }
    }

    #if os(Linux)
        /// Loads from a sealed file in memory.
        ///
        /// Where that is refused, for want of the call, of `/proc`, or of the right to execute such memory, from a directory.
        /// Which of these it was is not asked: an image that is at fault itself fails a second time, and says why the first did.
        private func loadFromMemory(_ bytes: UnsafeRawBufferPointer) throws(DynamicLinker.Failure)
            -> UnsafeMutableRawPointer
        {
            var refusal: DynamicLinker.Failure
            do throws(SystemError) {
                let file = try unsafe MemoryFile.sealing(bytes, name: path.lastPathComponent)
                let number = Self.generation.wrappingAdd(1, ordering: .relaxed).newValue
                do throws(DynamicLinker.Failure) {
                    return unsafe try DynamicLinker.load(
                        path: Self.uniquePath(descriptor: file.descriptor, generation: number)
                    )
                } catch {
                    refusal = error
                }
            } catch {
                refusal = DynamicLinker.Failure(text: "no file in memory: \(error)")
            }
            do throws(DynamicLinker.Failure) {
                return unsafe try loadFromDirectory(bytes, below: PrivateDirectory.usualParent)
            } catch {
                throw refusal
            }
        }

        /// A path to an open file that no other load of this process ever used.
        ///
        /// Glibc answers with the image it has if it knows the path, though the descriptor means another file by now. So the
        /// path spells the generation, a "/" for each 0 of its bits and a "/." for each 1, which mean nothing to the system.
        static func uniquePath(descriptor: Int32, generation: UInt64) -> String {
            var path = "/proc/self/fd"
            var rest = generation
            while rest != 0 {
                path += rest & 1 == 0 ? "/" : "/."
                rest >>= 1
            }
            return path + "/\(descriptor)"
        }
    #endif

    /// Loads from a new directory that only this user can enter, where the image and its relatives stand as they stood
    /// towards each other.
    private func loadFromDirectory(
        _ bytes: UnsafeRawBufferPointer,
        below parent: String
    ) throws(DynamicLinker.Failure) -> UnsafeMutableRawPointer {
        var directory = try PrivateDirectory(below: parent)
        guard !relatives.isEmpty else {
            return unsafe try DynamicLinker.load(path: directory.add(bytes, as: "\(digest).so"))
        }
        for relative in relatives {
            let path = relative.path.absolutePath
            do throws(DynamicLinker.Failure) {
                _ = unsafe try relative.withAllBytes { content throws(DynamicLinker.Failure) in
                    unsafe try directory.add(content, as: path)
                }
            } catch {
                throw error
            }
        }
        return unsafe try DynamicLinker.load(path: directory.add(bytes, as: path.absolutePath))
    }
}
