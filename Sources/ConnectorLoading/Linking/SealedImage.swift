// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The checked bytes of an image, sealed against changes and ready for the dynamic linker.
///
/// Sealing keeps a file from being replaced between check and load, and the process from crashing when a mapped image
/// is overwritten in place. The bytes are in a memory file if the system allows it, otherwise in a private directory
/// that is removed after loading.
@safe
package struct SealedImage: ~Copyable {
    /// Where to put the sealed bytes.
    package enum Storage: Sendable {
        /// In memory; in a private directory if the system refuses that.
        case automatic
        /// In a private directory below this one.
        case directory(String)
        /// Like `directory`, but the files stay after the process ends, because profilers read them by name.
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

    /// Whether images are loaded from their own files instead, so that debuggers and profilers find them by name.
    ///
    /// Only for a process that checks one plugin: a file that changes while it is loaded may crash the process.
    package static var loadsInPlace: Bool {
        get { inPlace.load(ordering: .relaxed) }
        set { inPlace.store(newValue, ordering: .relaxed) }
    }

    private static let inPlace = Atomic(false)

    /// The number of memory files so far, which makes their names unique.
    private static let generation = Atomic<UInt64>(0)

    /// Seals the bytes of an image.
    ///
    /// - Parameters:
    ///   - bytes: The image; must stay valid as long as this value lives.
    ///   - path: The file that the bytes were read from; debuggers and crash reports show its last component.
    ///   - relatives: Libraries that the image finds relative to its file.
    ///   - keepsLayout: Whether the copy must be at the same depth as the image, because the linker searches folders
    ///     above it.
    ///   - sealed: A descriptor of the same bytes in a file in memory that is sealed already; nil for none.
    ///   - storage: Where to put the bytes.
    package init(
        _ bytes: UnsafeRawBufferPointer,
        path: String,
        relatives: [ImageBytes],
        keepsLayout: Bool = false,
        sealed: Int32? = nil,
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
            case .automatic: TemporaryDirectory.parent
            case .directory(let directory), .kept(let directory): directory
            }
        isKept = if case .kept = storage { true } else { false }
        #if os(Linux)
            memory = unsafe Self.memory(
                isAutomatic && !keepsLayout ? bytes : nil,
                sealed: sealed,
                name: path.lastPathComponent
            )
        #endif
    }

    #if os(Linux)
        /// The bytes in a memory file; one without a descriptor if there are none, or if the system refuses it.
        private static func memory(_ bytes: UnsafeRawBufferPointer?, sealed: Int32?, name: String) -> MemoryFile {
            guard let bytes = unsafe bytes else { return MemoryFile(descriptor: -1) }
            if let sealed { return MemoryFile(descriptor: fcntl(sealed, F_DUPFD_CLOEXEC, 3)) }
            do throws(SystemError) {
                return unsafe try MemoryFile.sealing(bytes, name: name)
            } catch {
                return MemoryFile(descriptor: -1)
            }
        }
    #endif

    /// Loads the image; its constructors run.
    ///
    /// If loading from memory fails, for example because `memfd_create`, `/proc` or the right to execute is missing,
    /// loads from a directory, whatever the cause: a faulty image fails again, and the first reason is reported.
    ///
    /// - Throws: The message of the linker or the system.
    package func load() throws(DynamicLinker.Failure) -> LoadedImage {
        if Self.loadsInPlace {
            let content = unsafe ImageContent(hashing: bytes)
            return unsafe LoadedImage(try DynamicLinker.load(path: path.absolutePath), content: content)
        }
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
        /// A path to an open file of this process that no earlier load used, and that other processes can open too.
        ///
        /// The path contains the process id, so that a debugger can open the image by its name in the list of loaded
        /// images. For a known path, glibc returns the image that it already has, even if the descriptor now refers to
        /// another file. The path therefore encodes the generation: "/" for each 0 bit and "/." for each 1, which the
        /// kernel ignores. A forked process continues the count.
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
            /// The process that owns the folder; a forked process has another one.
            let process: pid_t
            /// The folder's path.
            let path: String
        }

        /// The folder, cached.
        private static let folder = Mutex<DescriptorFolder?>(nil)

        /// The folder of this process, looked up once.
        private static func descriptorFolder() throws(DynamicLinker.Failure) -> String {
            let process = getpid()
            if let known = folder.withLock(\.self), known.process == process { return known.path }
            // Do not use getpid(2): /proc may show another PID namespace.
            guard let number = "/proc/self".linkTarget else { throw DynamicLinker.Failure(text: "there is no /proc") }
            let path = "/proc/\(String(decoding: number, as: UTF8.self))/fd"
            folder.withLock { $0 = DescriptorFolder(process: process, path: path) }
            return path
        }
    #endif

    /// Deeper than any search path climbs, so that none leaves the private directory.
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
            let copy = unsafe try relative.withAllBytes { content throws(DynamicLinker.Failure) in
                unsafe try directory.add(content, as: path)
            }
            guard copy != nil else { throw DynamicLinker.Failure(text: "\(relative.path) changed while it was read") }
        }
        let copy = unsafe try directory.add(bytes, as: Self.depth + path.absolutePath)
        return unsafe LoadedImage(try DynamicLinker.load(path: copy), content: content)
    }
}
