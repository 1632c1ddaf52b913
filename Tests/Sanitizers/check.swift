// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// What a sanitizer must report and must not, so that its silence about the tests means something: `check` keeps the
// rules; `check thread` breaks the one that ThreadSanitizer is for, `check address` the one that AddressSanitizer is for.

import Glibc
import Synchronization

/// A value that is changed without any synchronization of its own.
final class Counter: @unchecked Sendable {
    var value = 0
}

/// Signals that something has happened, in a way that establishes no order for ThreadSanitizer.
final class Flag: Sendable {
    private let isSet = Atomic(false)
    func set() { isSet.store(true, ordering: .relaxed) }
    func wait() { while !isSet.load(ordering: .relaxed) { sched_yield() } }
}

/// Runs something on two threads, and waits for both.
func onTwoThreads(_ body: @escaping @Sendable () -> Void) {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let threads = (0..<2).map { _ in
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(body)).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { start in
                guard let start else { return nil }
                Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
                return nil
            },
            start
        )
        precondition(status == 0)
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
}

/// Holds a lock for so long that the other thread first spins, and then sleeps in the kernel.
func contend() {
    final class Guarded: Sendable { let counter = Mutex(Counter()) }
    let guarded = Guarded()
    onTwoThreads {
        for _ in 0..<100 {
            guarded.counter.withLock { counter in
                counter.value += 1
                usleep(100)
            }
        }
    }
    precondition(guarded.counter.withLock { $0.value } == 200)
}

/// Has continuations resumed by another task before their own task waits for them.
func resumeEarly() async {
    for _ in 0..<20 {
        let isResumed = Flag()
        let counter = await withCheckedContinuation { continuation in
            Task.detached {
                let counter = Counter()
                counter.value += 1
                continuation.resume(returning: counter)
                isResumed.set()
            }
            isResumed.wait()
        }
        counter.value += 1
        precondition(counter.value == 2)
    }
}

switch CommandLine.arguments.dropFirst().first {
case "thread":
    let counter = Counter()
    onTwoThreads { counter.value += 1 }
case "address":
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
    bytes.initialize(repeating: 0, count: 8)
    bytes.deallocate()
    print(bytes[7])
default:
    contend()
    await resumeEarly()
}
