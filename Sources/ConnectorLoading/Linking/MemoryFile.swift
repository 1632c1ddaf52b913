// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if os(Linux)
    package import ConnectorPlatform
    import Glibc

    /// A file in memory that can be sealed: memfd_create(2).
    ///
    /// The C function is looked up by name, because Swift's Glibc module and old systems lack it.
    package struct MemoryFile: ~Copyable {
        /// The descriptor, open for as long as this value lives; -1 if there is no file.
        package let descriptor: Int32
        private let isKept = Atomic<Bool>(false)

        /// Takes ownership of an open file; -1 for none.
        package init(descriptor: Int32) {
            self.descriptor = descriptor
        }

        private typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32

        private static let create = unsafe DynamicLinker.globalSymbol("memfd_create").map {
            unsafe unsafeBitCast($0, to: Create.self)
        }

        // linux/memfd.h, linux/fcntl.h
        private static let closeOnExec: UInt32 = 1
        private static let allowSealing: UInt32 = 2
        private static let executable: UInt32 = 16
        private static let notExecutable: UInt32 = 8
        private static let addSeals: Int32 = 1033
        /// F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE.
        private static let allSeals: Int32 = 1 | 2 | 4 | 8

        /// Writes bytes into a new file and seals it against changes.
        ///
        /// - Parameters:
        ///   - bytes: The file's whole content.
        ///   - name: The name in `/proc/PID/maps`, for debuggers and crash reports.
        /// - Throws: `ENOSYS` or another number if the system lacks or forbids such files; what ``isShortage(_:)`` knows if it
        ///   has no room for this one.
        package static func sealing(_ bytes: UnsafeRawBufferPointer, name: String) throws(SystemError) -> MemoryFile {
            let file = try making(name)
            try unsafe OutputFile.write(bytes, to: file.descriptor)
            try file.seal()
            return file
        }

        /// Copies the beginning of an open file into a new one, which it seals, through a small buffer.
        ///
        /// - Parameters:
        ///   - source: The file's descriptor.
        ///   - size: How much to copy, in bytes.
        ///   - name: The name in `/proc/PID/maps`.
        /// - Throws: What ``sealing(_:name:)`` does; `EIO` if the file ends early.
        package static func sealing(
            copyOf source: Int32,
            size: Int,
            name: String
        ) throws(SystemError) -> MemoryFile {
            let file = try making(name)
            let buffer = unsafe ReadBuffer.take()
            defer { unsafe ReadBuffer.give(buffer) }
            var offset = 0
            while offset < size {
                let count = unsafe pread(source, buffer, min(ReadBuffer.size, size - offset), off_t(offset))
                if count < 0, errno == EINTR { continue }
                guard count != 0 else { throw SystemError(EIO) }
                guard count > 0 else { throw SystemError() }
                try unsafe OutputFile.write(UnsafeRawBufferPointer(start: buffer, count: count), to: file.descriptor)
                offset += count
            }
            try file.seal()
            return file
        }

        /// Makes an empty file that can be sealed.
        private static func making(_ name: String) throws(SystemError) -> MemoryFile {
            guard let create = unsafe create else { throw SystemError(ENOSYS) }
            // memfd_create(2) accepts a name of up to 249 bytes.
            var name = name
            while name.utf8.count > 249 { name.unicodeScalars.removeLast() }
            let flags = closeOnExec | allowSealing
            // Kernels before 6.3 reject the flag, later ones may require it (sysctl vm.memfd_noexec).
            var descriptor = unsafe create(name, flags | executable)
            if descriptor < 0, errno == EINVAL { descriptor = unsafe create(name, flags) }
            // With vm.memfd_noexec=2 no such file may be run as a program; the dynamic linker maps one all the same.
            if descriptor < 0, errno == EACCES { descriptor = unsafe create(name, flags | notExecutable) }
            guard descriptor >= 0 else { throw SystemError() }
            return MemoryFile(descriptor: descriptor)
        }

        /// Allows no further change.
        private func seal() throws(SystemError) {
            guard fcntl(descriptor, Self.addSeals, Self.allSeals) == 0 else { throw SystemError() }
        }

        /// Another descriptor of the file, which the caller closes; negative if there is none left.
        package func duplicate() -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }

        /// Whether there was no file because descriptors or memory were used up, so that there may be one later.
        static func isShortage(_ error: SystemError) -> Bool {
            [EMFILE, ENFILE, ENOMEM, ENOSPC].contains(error.number)
        }

        /// The sealed bytes, mapped until their digest is computed.
        ///
        /// - Parameter bytes: The same bytes, used if the file cannot be mapped.
        package func content(_ bytes: UnsafeRawBufferPointer) -> ImageContent {
            // MAP_PRIVATE, because older kernels refuse a shared mapping of a file that is sealed against writing.
            let address = unsafe mmap(nil, bytes.count, PROT_READ, MAP_PRIVATE, descriptor, 0)
            guard let address = unsafe address, unsafe address != MAP_FAILED else {
                return unsafe ImageContent(hashing: bytes)
            }
            return unsafe ImageContent(mapped: UnsafeRawBufferPointer(start: address, count: bytes.count))
        }

        /// Only descriptors below this are kept open; negative for no limit. Cached, because reading it takes a system
        /// call.
        private static let keptLimit = sysconf(Int32(_SC_OPEN_MAX)) / 4

        /// Keeps the file open for the life of the process, so that a debugger can open it by its name.
        ///
        /// Does nothing if kept files would use more than a quarter of the process's descriptors.
        package func keep() {
            guard descriptor >= 0, descriptor < Self.keptLimit || Self.keptLimit < 0 else { return }
            isKept.store(true, ordering: .relaxed)
        }

        deinit {
            if descriptor >= 0, !isKept.load(ordering: .relaxed) { close(descriptor) }
        }
    }
#endif
