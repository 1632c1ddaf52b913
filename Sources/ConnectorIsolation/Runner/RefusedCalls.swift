// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The calls that the sandbox of a runner refuses: its filter asks the host about each one, and the host refuses it, and so knows of it.
///
/// The descriptor to answer by comes from the runner before it has a plugin, and stays open until it ends: without it, such calls fail
/// with another errno.
struct RefusedCalls: ~Copyable {
    /// What there is to say about refused calls.
    enum News {
        /// A call is refused for the first time.
        case refused(SandboxRefusal)
        /// The sandbox refuses what it should, but nobody learns of it.
        case unreported(SystemError)
    }

    /// From where the listener comes; once it has come, from where the calls come. Nil if nothing more does.
    private var source: OwnedDescriptor?
    private var hasListener = false
    private var listener = SandboxListener()
    /// When the current second began, in monotonic time, and how many calls it has had.
    private var (second, count): (UInt64, Int) = (0, 0)
    /// Whether calls wait until that second is over.
    private var isFull = false

    /// How many calls of one second are answered. A plugin that makes more of them waits, and the host does little else for it.
    private static let limit = 10_000

    /// Takes over the socket through which the listener comes; -1 for none.
    init(_ socket: Int32) {
        source = socket >= 0 ? OwnedDescriptor(socket) : nil
    }

    /// Closes the descriptor; once the runner ends.
    mutating func close() { source = nil }

    /// The descriptor to watch; -1 for none.
    var watched: Int32 {
        guard !isFull, let descriptor = number else { return -1 }
        return descriptor
    }

    private var number: Int32? {
        switch source {
        case .some(let descriptor): descriptor.number
        case .none: nil
        }
    }

    /// How long nothing is watched because there were too many calls, in milliseconds; nil if calls are answered.
    mutating func pause() -> Int32? {
        guard isFull else { return nil }
        let now = SystemTime.monotonic(), end = second + 1_000_000_000
        isFull = now < end
        return isFull ? Int32(clamping: (end - now) / 1_000_000 + 1) : nil
    }

    /// Takes what has come through the descriptor.
    ///
    /// - Parameters:
    ///   - events: What `poll` has found there; not nothing.
    ///   - isReported: Whether a refused call is news: before it has a plugin, the runner tries what is forbidden.
    mutating func take(_ events: Int16, isReported: Bool) -> News? {
        guard let number else { return nil }
        guard events & Int16(POLLIN) != 0 else {
            // No thread has the filter anymore. A kernel before 6.11 would wait for a call forever.
            source = nil
            return nil
        }
        guard hasListener else { return receive(number) }
        if count == 0 { second = SystemTime.monotonic() }
        count += 1
        if count == Self.limit {
            isFull = SystemTime.monotonic() - second < 1_000_000_000
            count = 0
        }
        do throws(SystemError) {
            return try listener.refuse(number, isReported: isReported).map { .refused($0) }
        } catch {
            source = nil
            return nil
        }
    }

    private mutating func receive(_ socket: Int32) -> News? {
        var (reason, descriptor): (Int32, Int32) = (0, -1)
        let size = MemoryLayout<Int32>.size
        let count = unsafe runner_receive(socket, &reason, UInt64(size), &descriptor, 0)
        if count == -Int64(EAGAIN) { return nil }
        hasListener = descriptor >= 0
        source = hasListener ? OwnedDescriptor(descriptor) : nil
        guard count == Int64(size), !hasListener else { return nil }
        // The system drops a listener for which the host has no number.
        return .unreported(SystemError(reason != 0 ? reason : EMFILE))
    }
}
