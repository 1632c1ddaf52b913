// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What this process uses of the machine.
enum Usage {
    /// The processor time of all of its threads, including the time in the system, in nanoseconds.
    static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec)
    }

    /// The calling thread, and its processor time, including the time in the system, in nanoseconds.
    static var thread: (id: UInt, processorTime: Double) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        let id = UInt(bitPattern: pthread_self().hashValue)
        return (id, Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec))
    }

    /// How long the machine's processors have been busy since it started, and the total time of all processors, in ticks; zero where
    /// the system does not tell.
    static var busy: (busy: Double, all: Double) {
        guard let file = unsafe fopen("/proc/stat", "r") else { return (0, 0) }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, 256, file) != nil else { return (0, 0) }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let ticks = text.split { $0 == " " || $0 == "\n" }.dropFirst().compactMap { Double(String($0)) }
        guard ticks.count >= 5 else { return (0, 0) }
        let all = ticks.reduce(0, +)
        // The fourth and the fifth are idle time, the latter spent waiting for a disk.
        return (all - ticks[3] - ticks[4], all)
    }

    /// The memory that it cannot return at the moment, in kilobytes; nil where the system does not tell.
    static var heldMemory: Double? { memory(["RssAnon:"]) }

    /// The same with the sealed copies of images, which are memory without a name in the file system.
    static var heldMemoryWithImages: Double? { memory(["RssAnon:", "RssShmem:"]) }

    private static func memory(_ kinds: [String]) -> Double? {
        benchmark_release_memory()
        guard let file = unsafe fopen("/proc/self/status", "r") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        var found: [Double] = []
        while unsafe fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard kinds.contains(where: text.hasPrefix) else { continue }
            found += text.split { !$0.isNumber }.prefix(1).compactMap { Double(String($0)) }
        }
        return found.isEmpty ? nil : found.reduce(0, +)
    }
}
