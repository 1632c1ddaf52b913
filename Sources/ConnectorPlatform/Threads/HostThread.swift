// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Starts the host's own threads, for timers and plugins' callbacks, which must not run on the cooperative pool.
package enum HostThread {
    /// Starts a named thread that runs a body; returns false if the system cannot create it.
    package typealias Make = @Sendable (StaticString, @escaping @Sendable () -> Void) -> Bool

    /// The name and the body of a new thread, boxed to pass through a pointer.
    private final class Body: Sendable {
        let name: StaticString
        let run: @Sendable () -> Void

        init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers and `top -H` show, at most 15 bytes.
    ///   - body: The thread's work; the thread exits when it returns.
    /// - Returns: False if the system cannot create a thread.
    package static func start(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
        let argument = unsafe Unmanaged.passRetained(Body(name, body)).toOpaque()
        let isStarted = unsafe create(argument)
        if !isStarted { unsafe Unmanaged<Body>.fromOpaque(argument).release() }
        return isStarted
    }

    private static func create(_ argument: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Glibc)
            var thread: pthread_t = 0
            let status = unsafe pthread_create(&thread, nil, entry, argument)
            if status == 0 { pthread_detach(thread) }
            return status == 0
        #else
            var thread: pthread_t?
            let status = unsafe pthread_create(&thread, nil, entry, argument)
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
            return status == 0
        #endif
    }

    // Passing the closure inline crashes Swift 6.3's region analysis.
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        unsafe enter($0)
    }

    private static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument = unsafe argument else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        name(body.name)
        // A stack overflow can leave a crash note only from an alternate stack.
        fatal_signal_enter_thread()
        defer { fatal_signal_leave_thread() }
        body.run()
        return nil
    }

    /// Names the calling thread. Failure is not an error: the name only helps debugging.
    private static func name(_ name: StaticString) {
        #if canImport(Glibc)
            // Swift's Glibc module lacks pthread_setname_np, a GNU extension; this does the same (proc(5)).
            let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = unsafe write(file, name.utf8Start, name.utf8CodeUnitCount)
            close(file)
        #else
            _ = unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) {
                unsafe pthread_setname_np($0)
            }
        #endif
    }
}
