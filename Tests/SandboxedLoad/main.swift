// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// A Swift process that copies an image, enters the sandbox, loads it from memory, and works: tasks, queues, timers, sleeping tasks,
// waiting workers. Dispatch opens files of /proc under load, and crashes if it cannot: a light test would not show that.
//
// sandboxed-load SECONDS IMAGE [SUCCESSOR]

import ConnectorPlatform
import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Copies an image into memory, as a host does for its runner; nil if that fails.
func copy(_ path: String) -> Int32? {
    #if os(Linux)
        typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
        guard let create = unsafe dlsym(nil, "memfd_create") else { return nil }
        let memory = unsafe unsafeBitCast(create, to: Create.self)("image", 0)
        let file = unsafe open(path, O_RDONLY)
        guard memory >= 0, file >= 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe read(file, &buffer, buffer.count)
            guard count > 0 else { return memory }
            guard unsafe write(memory, buffer, count) == count else { return nil }
        }
    #else
        return -1
    #endif
}

/// Loads an image from memory.
func load(_ memory: Int32) -> Bool {
    #if os(Linux)
        return unsafe dlopen("/proc/self/fd/\(memory)", RTLD_NOW | RTLD_LOCAL) != nil
    #else
        return true
    #endif
}

/// Counts what was done.
final class Count: Sendable {
    private let value = Atomic<Int>(0)
    var current: Int { value.load(ordering: .relaxed) }
    func add(_ result: Int) { value.add(result == 0 ? 0 : 1, ordering: .relaxed) }
}

/// Spins for some microseconds.
func spin(_ rounds: Int) -> Int { (0..<rounds).reduce(1) { ($0 &* 31) &+ $1 } }

/// Works in each way that a plugin may, until a time.
func work(until end: DispatchTime) -> Int {
    let count = Count()
    let group = DispatchGroup()
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now(), repeating: .milliseconds(5))
    timer.setEventHandler { count.add(1) }
    timer.resume()
    // More work than workers, so that Dispatch asks /proc once a second which of them run.
    @Sendable func block() {
        usleep(5000)
        count.add(spin(100))
        guard DispatchTime.now() < end else { return group.leave() }
        queue.async(execute: block)
    }
    for _ in 0..<48 {
        group.enter()
        queue.async(execute: block)
    }
    for _ in 0..<32 {
        group.enter()
        Task.detached {
            while DispatchTime.now() < end {
                try? await Task.sleep(for: .milliseconds(3))
                await withTaskGroup(of: Int.self) { tasks in
                    for _ in 0..<8 { tasks.addTask { spin(2000) } }
                    for await value in tasks { count.add(value) }
                }
            }
            group.leave()
        }
    }
    group.wait()
    timer.cancel()
    return count.current
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let seconds = Double(arguments[1]) else { exit(64) }
let successor = arguments.count > 3 ? Int32(arguments[3]) : nil
guard let image = copy(arguments[2]) else { exit(65) }
let sandbox = Sandbox(SandboxSettings(), host: getppid(), keeping: [image], successor: successor)
var report = sandbox.enter()
guard load(image) else { exit(65) }
let broad = work(until: .now() + seconds)
guard sandbox.narrow().holds else { exit(67) }
let narrow = work(until: .now() + seconds)
sandbox.prove(&report)
print(report.evidence)
exit(broad > 0 && narrow > 0 ? 0 : 66)
