// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CFatalSignal
internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Ends the process if `exit` blocks: a plugin's destructor may block, and so may the dynamic linker while a plugin's
/// constructor runs.
package enum ExitWatch {
    /// Starts watching the calling thread, which is about to call `exit`.
    ///
    /// - Parameter status: The status to end the process with, if destructors take longer than a second.
    package static func start(status: Int32) {
        #if canImport(Glibc)
            let thread = pthread_self()
        #else
            let thread = unsafe UInt(bitPattern: pthread_self())
        #endif
        fatal_signal_be_looked_at()
        _ = HostThread.start("connector-exit") {
            let end = SystemTime.monotonic().saturatingAdding(1_000_000_000)
            Monitor(()).wait { _ in SystemTime.monotonic() < end ? .wait(until: end) : .proceed(()) }
            write(reason(thread))
            _exit(status)
        }
    }

    /// Describes what keeps the process from exiting.
    private static func reason(_ thread: UInt) -> String {
        if let path = PluginImages.shared.pathBeingLoaded {
            return "a constructor of \(path.withGivenPaths) does not return"
        }
        guard let plugin = unsafe fatal_signal_plugin_of_thread(thread) else {
            return "the process does not exit"
        }
        return unsafe "a destructor of the plugin \(String(cString: plugin)) does not return"
    }

    /// Writes the reason, unless its reader has stalled.
    private static func write(_ reason: String) {
        var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&entry, 1, 0) > 0 else { return }
        let bytes = Array("connector-host: \(reason); exiting anyway\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe writeBytes(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// Calls write(2), which the method of the same name hides.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
