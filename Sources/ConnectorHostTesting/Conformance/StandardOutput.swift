// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Detects writes to this process's standard output.
enum StandardOutput {
    /// Serializes watches, because the process has one standard output.
    private static let mutex = AsyncLock()

    /// Runs something, and reports what it wrote to standard output. The text is forwarded afterwards.
    ///
    /// - Parameter report: Gets the beginning of the text, if there is one.
    static func watched(_ report: (String) -> Void, body: () async -> Void) async {
        await mutex.lock()
        defer { mutex.unlock() }
        guard let file = unsafe tmpfile() else { return await body() }
        defer { unsafe fclose(file) }
        let watched = unsafe fileno(file)
        fflush(nil)
        let original = dup(STDOUT_FILENO)
        guard original >= 0, dup2(watched, STDOUT_FILENO) >= 0 else { return await body() }
        await body()
        fflush(nil)
        dup2(original, STDOUT_FILENO)
        close(original)
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

/// A lock that admits one task at a time.
private final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isLocked {
                    state.line.append(continuation)
                    return false
                }
                state.isLocked = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.line.isEmpty else {
                state.isLocked = false
                return nil
            }
            return state.line.removeFirst()
        }
        next?.resume()
    }
}
