// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal
internal import ConnectorBase
internal import Synchronization

#if os(Linux)
    internal import CLinux
#endif

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Starts the host's own threads, for timers and plugins' callbacks, which must not run on the cooperative pool.
package enum HostThread {
    /// Starts a named thread that runs a body; returns false if the system cannot create it.
    package typealias Make = @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool

    /// The number of processors of the machine that are in use, at least one.
    package static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers and `top -H` show, at most 15 bytes.
    ///   - body: The thread's work; the thread exits when it returns.
    /// - Returns: False if the system cannot create a thread.
    package static func start(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
        let number = SystemThread.create {
            Self.name(name)
            // A stack overflow can leave a crash note only from an alternate stack.
            fatal_signal_enter_thread()
            defer { fatal_signal_leave_thread() }
            body()
        }
        guard number != 0 else { return true }
        lastRefusal.store(number, ordering: .relaxed)
        return false
    }

    /// The error number of the last thread that the system did not create; 0 if it created all.
    private static let lastRefusal = Atomic<Int32>(0)

    /// Why the system last did not create a thread; nil if it created all.
    package static var refusal: SystemError? {
        let number = lastRefusal.load(ordering: .relaxed)
        return number == 0 ? nil : SystemError(number)
    }

    /// Names the calling thread. Failure is not an error: the name only helps debugging.
    private static func name(_ name: StaticString) {
        // The text of a static string ends with a zero.
        unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) { text in
            #if os(Linux)
                _ = unsafe pthread_setname_np(pthread_self(), text)
            #else
                _ = unsafe pthread_setname_np(text)
            #endif
        }
    }
}
