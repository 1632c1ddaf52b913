// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Starts threads of the system, for work that may block, which must not run on the cooperative pool.
package enum SystemThread {
    /// The work of a new thread, boxed to pass through a pointer.
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread.
    ///
    /// - Parameter body: The thread's work; the thread exits when it returns.
    /// - Returns: False if the system cannot create a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool { create(body) == 0 }

    /// Starts a detached thread, as ``start(_:)`` does.
    ///
    /// - Returns: 0, or the error number of pthread_create(3).
    package static func create(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
        #if canImport(Glibc)
            var thread: pthread_t = 0
        #else
            var thread: pthread_t?
        #endif
        let number = unsafe pthread_create(&thread, nil, entry, argument)
        guard number == 0 else {
            unsafe Unmanaged<Body>.fromOpaque(argument).release()
            return number
        }
        #if canImport(Glibc)
            pthread_detach(thread)
        #else
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #endif
        return 0
    }

    // Passing the closure inline crashes Swift 6.3's region analysis.
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
    }
}
