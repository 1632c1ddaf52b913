// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file of a recording, which only its owner may read. It is created once there is something to write; an existing
/// file is left alone.
package struct RecordingFile: Sendable {
    private let target: RecordingTarget
    /// The path, once the file is created.
    package private(set) var path: String?

    /// The file's mode: only its owner may read and write it.
    private static let mode: UInt32 = 0o600
    /// The most processes of a session.
    private static let partLimit = 10_000

    /// Names the file without creating it.
    package init(_ target: RecordingTarget) {
        self.target = target
    }

    /// Whether the error says that the file existed before the recording, so that nothing could be written.
    func existed(_ error: SystemError) -> Bool { path == nil && error.number == EEXIST }

    /// Replaces the whole text. Blocks on the disk.
    ///
    /// - Throws: `EEXIST` if the file existed before the recording.
    package mutating func replace(with text: [UInt8]) throws(SystemError) {
        let isFirst = self.path == nil
        let path = try made()
        do throws(SystemError) {
            try OutputFile.replace(path, with: text, mode: Self.mode)
        } catch {
            if isFirst {
                // An empty file would be in the way of the next recording.
                unsafe unlink(path)
                self.path = nil
            }
            throw error
        }
    }

    private mutating func made() throws(SystemError) -> String {
        if let path { return path }
        for number in 1...Self.partLimit {
            let path = target.isSession ? "\(target.path)/\(number).json" : target.path
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(Self.mode))
            if descriptor >= 0 {
                close(descriptor)
                self.path = path
                return path
            }
            guard errno == EEXIST, target.isSession else { throw SystemError() }
        }
        throw SystemError(EEXIST)
    }
}
