// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Keeps the calling thread on one processor and all threads of another process on a second, by taskset(1) of Linux; does nothing
/// elsewhere, or if there is only one processor.
struct ProcessorPair {
    private let thread: String?
    private let process: Int64
    private static let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Takes the first two processors.
    ///
    /// - Parameter process: The other process; nil to do nothing.
    init(other process: Int64?) {
        var link = [CChar](repeating: 0, count: 64)
        // PID/task/TID.
        let length = unsafe readlink("/proc/thread-self", &link, link.count)
        guard let process, length > 0, Self.count > 1 else {
            (thread, self.process) = (nil, 0)
            return
        }
        let path = String(decoding: link[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let thread = path.split(separator: "/").last.map(String.init)
        (self.thread, self.process) = (thread, process)
        bind("0", "1")
    }

    /// Lets both run on every processor.
    func release() {
        let all = "0-\(Self.count - 1)"
        bind(all, all)
    }

    private func bind(_ own: String, _ other: String) {
        guard let thread else { return }
        _ = try? ChildProcess.output(["taskset", "-p", "-c", own, thread])
        _ = try? ChildProcess.output(["taskset", "-a", "-p", "-c", other, "\(process)"])
    }
}
