// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The checked bytes of an image, sealed against changes and ready for the dynamic linker.
///
/// Sealing defeats a file swapped between check and load, and the crash of a mapped image that is overwritten in place.
/// The bytes lie in memory where the system allows it, otherwise in a private directory that is removed after loading.
@safe
package struct SealedImage: ~Copyable {
    /// The place of the sealed bytes.
    package enum Storage: Sendable {
        /// In memory, and in a directory if that is refused.
        case automatic
        /// In a private directory made below this one.
        case directory(String)
        /// The same, and the files stay after the process ends: profilers read them by their names.
        case kept(String)
    }

    private let path: String
    private let bytes: UnsafeRawBufferPointer
    private let relatives: [ImageBytes]
    private let keepsLayout: Bool
    private let parent: String
    private let isKept: Bool
    #if os(Linux)
        private let memory: MemoryFile
    #endif

    /// The number of images put in memory so far; it keeps names from repeating.
    private static let generation = Atomic<UInt64>(0)

    /// Seals the bytes of an image.
    ///
    /// - Parameters:
    ///   - bytes: The image, which must stay where it is as long as this value lives.
    ///   - path: The file that they were read from; its last part is the name that debuggers and crash reports show.
    ///   - relatives: Libraries that the image finds relative to its own file.
    ///   - keepsLayout: Whether the copy must lie as deep as the image does: the linker looks for libraries in folders above it.
    ///   - storage: Where to put them.
    package init(
        _ bytes: UnsafeRawBufferPointer,
        path: String,
        relatives: [ImageBytes],
        keepsLayout: Bool = false,
        storage: Storage
    ) {
        let keepsLayout = keepsLayout || !relatives.isEmpty
        let isAutomatic = if case .automatic = storage { true } else { false }
        unsafe self.bytes = bytes
        self.path = path
        self.relatives = relatives
        self.keepsLayout = keepsLayout
        parent =
            switch storage {
            case .automatic: PrivateDirectory.usualParent
            case .directory(let directory), .kept(let directory): directory
            }
        isKept = if case .kept = storage { true } else { false }
        #if os(Linux)
            memory =
                isAutomatic && !keepsLayout
                ? unsafe MemoryFile.sealing(bytes, name: path.lastPathComponent) : MemoryFile(descriptor: -1)
        #endif
    }

    /// Loads the image; its constructors run.
    ///
    /// If memory is refused, because the call, `/proc` or the right to execute is missing, it loads from a directory.
    /// It does not ask for the cause: a faulty image fails a second time, with the reason of the first.
    ///
    /// - Throws: The message of the linker or the system.
    package func load() throws(DynamicLinker.Failure) -> LoadedImage {
        #if os(Linux)
            if memory.descriptor >= 0 {
                let number = Self.generation.wrappingAdd(1, ordering: .relaxed).newValue
                let refusal: DynamicLinker.Failure
                do throws(DynamicLinker.Failure) {
                    let path = try Self.uniquePath(descriptor: memory.descriptor, generation: number)
                    let handle = unsafe try DynamicLinker.load(path: path)
                    memory.keep()
                    return unsafe LoadedImage(handle, content: memory.content(bytes))
                } catch {
                    refusal = error
                }
                do throws(DynamicLinker.Failure) {
                    return try loadFromDirectory()
                } catch {
                    throw refusal
                }
            }
        #endif
        return try loadFromDirectory()
    }

    #if os(Linux)
        /// A path to an open file of this process that no other load of it ever used, and that other processes can open too.
        ///
        /// It names the process, so that a debugger finds the image by the name in the list of loaded ones. For a known path,
        /// glibc returns the image that it already has, even if the descriptor now means another file. So the path spells the
        /// generation: "/" for each 0 bit and "/." for each 1, which the system ignores. A forked process goes on counting.
        package static func uniquePath(descriptor: Int32, generation: UInt64) throws(DynamicLinker.Failure) -> String {
            var path = try descriptorFolder()
            var rest = generation
            while rest != 0 {
                path += rest & 1 == 0 ? "/" : "/."
                rest >>= 1
            }
            return path + "/\(descriptor)"
        }

        /// The folder of the open files of a process, `/proc/PID/fd`.
        private struct DescriptorFolder: Sendable {
            /// The process whose folder it is: a forked one has another.
            let process: pid_t
            /// Its path.
            let path: String
        }

        /// The folder as last found.
        private static let folder = Mutex<DescriptorFolder?>(nil)

        /// The folder of this process, found once.
        private static func descriptorFolder() throws(DynamicLinker.Failure) -> String {
            let process = getpid()
            if let known = folder.withLock(\.self), known.process == process { return known.path }
            // Not the number of getpid(2): /proc may show another namespace, where that is another process.
            var buffer = [CChar](repeating: 0, count: 32)
            let count = unsafe readlink("/proc/self", &buffer, buffer.count)
            guard count > 0, count < buffer.count else { throw DynamicLinker.Failure(text: "there is no /proc") }
            let number = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let path = "/proc/\(number)/fd"
            folder.withLock { $0 = DescriptorFolder(process: process, path: path) }
            return path
        }
    #endif

    /// More levels than a search path leads up, so that none leads out of the private directory.
    private static let depth = String(repeating: "_/", count: 32)

    /// Loads from a new directory that only this user can enter, where the image and its relatives keep their relative
    /// paths.
    private func loadFromDirectory() throws(DynamicLinker.Failure) -> LoadedImage {
        let content = unsafe ImageContent(hashing: bytes)
        var directory = try PrivateDirectory(below: parent, isKept: isKept)
        guard keepsLayout else {
            let copy = unsafe try directory.add(bytes, as: isKept ? path.lastPathComponent : "\(content.digest).so")
            return unsafe LoadedImage(try DynamicLinker.load(path: copy), content: content)
        }
        for relative in relatives {
            let path = Self.depth + relative.path.absolutePath
            do throws(DynamicLinker.Failure) {
                _ = unsafe try relative.withAllBytes { content throws(DynamicLinker.Failure) in
                    unsafe try directory.add(content, as: path)
                }
            } catch {
                throw error
            }
        }
        let copy = unsafe try directory.add(bytes, as: Self.depth + path.absolutePath)
        return unsafe LoadedImage(try DynamicLinker.load(path: copy), content: content)
    }
}
