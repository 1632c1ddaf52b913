// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Detects writes to this process's standard output.
enum StandardOutput {
    /// The end of the last watch. The process has one standard output, so each watch waits for the one before.
    private static let last = Mutex<OneShot<Void>?>(nil)

    /// Runs a body, and reports what was written to standard output meanwhile. The text is forwarded afterwards, up to about 1 MiB.
    ///
    /// - Parameter report: Receives the first 200 bytes of the text, if there is any.
    static func watched(_ report: (String) -> Void, body: () async -> Void) async {
        let end = OneShot<Void>()
        let previous = last.withLock { last in
            defer { last = end }
            return last
        }
        await previous?.wait()
        defer { end.send() }
        guard let file = unsafe tmpfile() else { return await body() }
        defer { unsafe fclose(file) }
        let watched = unsafe fileno(file)
        fflush(nil)
        let original = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard original >= 0 else { return await body() }
        defer { close(original) }
        guard dup2(watched, STDOUT_FILENO) >= 0 else { return await body() }
        await body()
        fflush(nil)
        dup2(original, STDOUT_FILENO)
        let text = content(of: watched)
        guard !text.isEmpty else { return }
        unsafe text.withUnsafeBytes { bytes in _ = unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count) }
        report(String(decoding: text.prefix(200), as: UTF8.self))
    }

    private static func content(of file: Int32) -> [UInt8] {
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while text.count < 1 << 20 {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe pread(file, $0.baseAddress, $0.count, off_t(text.count))
            }
            guard count > 0 else { break }
            text += block.prefix(count)
        }
        return text
    }
}
