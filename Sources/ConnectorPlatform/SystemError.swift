// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An `errno` with its text.
package struct SystemError: Error, Sendable, CustomStringConvertible {
    /// The number, as errno(3) lists them.
    package var number: Int32

    /// Takes an `errno`; by default, that of the last call.
    package init(_ number: Int32 = errno) {
        self.number = number
    }

    /// The text of strerror(3).
    package var text: String {
        var buffer = [CChar](repeating: 0, count: 128)
        _ = unsafe strerror_r(number, &buffer, buffer.count - 1)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What to do about a disk that is full or cannot be written; nil if the error is another one.
    package var diskRemedy: String? {
        switch number {
        case ENOSPC: "free space on the disk, or inodes (df -i)"
        case EDQUOT: "free space, or let this user have more of the disk"
        case EROFS: "make the file system writable, or use another directory"
        default: nil
        }
    }

    /// What to do about a limit of the process that is reached; nil if the error is another one.
    package var limitRemedy: String? {
        switch number {
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n, LimitNOFILE)"
        case EFBIG: "raise the limit of the size of files (ulimit -f, LimitFSIZE)"
        default: nil
        }
    }

    /// Everything that ``diskRemedy`` and ``limitRemedy`` say.
    package static let remedies: [String] = [ENOSPC, EDQUOT, EROFS, EMFILE, EFBIG].map { SystemError($0) }
        .compactMap { $0.diskRemedy ?? $0.limitRemedy }

    /// What to do about a file that cannot be opened.
    package var openingRemedy: String {
        switch number {
        case ELOOP: "remove the loop of symbolic links"
        case ENAMETOOLONG: "use a shorter path"
        default: limitRemedy ?? "check the permissions of the file and its directories"
        }
    }

    /// The text, followed by the number.
    package var description: String { "\(text) (errno \(number))" }
}
