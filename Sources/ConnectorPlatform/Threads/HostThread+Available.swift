// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Trying whether the system creates threads, for libraries that end the process if it does not.
extension HostThread {
    /// What to do if the system cannot create a thread, by the reason for which it last did not.
    package static var remedy: String { advice(for: refusal) }

    /// Everything that ``remedy`` says.
    package static let remedies: [String] = [EAGAIN, EPERM].map { advice(for: SystemError($0)) }

    /// What to do about an error of pthread_create(3), which tells of used up memory as of used up threads.
    private static func advice(for refusal: SystemError?) -> String {
        refusal?.number == EPERM
            ? "let the seccomp filter of the container, or of the service, permit clone3(2), or answer ENOSYS"
            : "raise the limits of processes (ulimit -u, TasksMax) and of memory (ulimit -v, ulimit -d)"
    }

    /// Whether the threads of the event loops have been made.
    private static let hasEventLoops = Mutex(false)

    /// Makes the event loops of this process, which all of its HTTP clients and servers share, unless they are there already.
    ///
    /// - Parameters:
    ///   - count: How many threads they have.
    ///   - make: Makes them. It ends the process if the system does not create a thread, or has too few descriptors.
    /// - Returns: Nil if they are there; otherwise, without a call of `make`, `EMFILE` if the process has too few descriptors left, or
    ///   why the system cannot create the threads.
    package static func prepareEventLoops(_ count: Int, _ make: () -> Void) -> SystemError? {
        hasEventLoops.withLock { isMade in
            guard !isMade else { return nil }
            guard DescriptorLimit.hasRoom(forLoops: count) else { return SystemError(EMFILE) }
            guard areAvailable(count) else { return refusal ?? SystemError(EAGAIN) }
            make()
            isMade = true
            return nil
        }
    }

    /// When ``shortage`` last tried, in monotonic time, and what it found.
    private static let lastTrial = Mutex<(time: UInt64, shortage: SystemError?)?>(nil)

    /// Why the system lets this process have fewer than four more threads; nil if it lets it have them.
    ///
    /// Runners, which count as processes of the same user or service, then lack threads, too. Tries once a second at most, which takes
    /// a fraction of a millisecond.
    package static var shortage: SystemError? {
        lastTrial.withLock { last in
            let now = SystemTime.monotonic()
            if let last, now - last.time < 1_000_000_000 { return last.shortage }
            let shortage: SystemError? =
                areAvailable(4, awaitingEnd: false) ? nil : refusal ?? SystemError(EAGAIN)
            last = (time: now, shortage: shortage)
            return shortage
        }
    }

    /// Whether the system creates some threads.
    ///
    /// - Parameters:
    ///   - awaitsEnd: Whether they have ended when this returns, and no longer count. That may take a second if the machine is busy.
    ///   - make: Starts a thread.
    package static func areAvailable(
        _ count: Int,
        awaitingEnd awaitsEnd: Bool = true,
        _ make: Make = { HostThread.start($0, $1) }
    ) -> Bool {
        let (arrived, over) = (Monitor([String]()), Monitor(false))
        var started = 0
        while started < count,
            make(
                "probe",
                {
                    let entry = ownEntry()
                    arrived.withLock { $0.append(entry) }
                    arrived.signal()
                    over.wait { $0 ? .proceed(()) : .wait(until: nil) }
                    // Each wakes the next.
                    over.signal()
                }
            )
        {
            started += 1
        }
        let all = started
        let entries: [String] =
            if awaitsEnd { arrived.wait { $0.count < all ? .wait(until: nil) : .proceed($0) } } else { [] }
        over.withLock { $0 = true }
        over.signal()
        // The system counts a thread until it has forgotten it, which may be after its last instruction.
        let end = SystemTime.monotonic().saturatingAdding(1_000_000_000)
        for entry in entries where !entry.isEmpty {
            while unsafe access(entry, F_OK) == 0, SystemTime.monotonic() < end { sched_yield() }
        }
        return started == count
    }

    /// The path of the calling thread in proc(5); empty if there is none.
    private static func ownEntry() -> String {
        "/proc/thread-self".linkTarget.map { "/proc/" + String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
