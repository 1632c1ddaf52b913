// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reports changes in directories as they happen: inotify on Linux; elsewhere it cannot be created.
///
/// It does not say what changed: its user looks again. It misses changes on file systems of other machines, and those made by
/// mounting something over a name.
package final class DirectoryWatch: Sendable {
    /// What is of interest in a directory.
    package struct Interest: Sendable, Hashable {
        /// The entries; nil for all.
        package var names: Set<String>?
        /// Whether writing to an entry is of interest, besides entries that come, go or are replaced.
        package var includesWriting: Bool

        /// Describes an interest.
        package init(names: Set<String>?, includesWriting: Bool) {
            (self.names, self.includesWriting) = (names, includesWriting)
        }

        /// Adds another interest.
        package mutating func add(_ other: Interest) {
            names = if let names, let more = other.names { names.union(more) } else { nil }
            includesWriting = includesWriting || other.includesWriting
        }
    }

    /// Creates a watch that calls a function after changes, on a thread of its own.
    package typealias Make =
        @Sendable (_ onChange: @escaping @Sendable () -> Void) throws(SystemError) -> DirectoryWatch

    private struct State {
        /// What is watched, by the number that the system gave the directory.
        var interests: [Int32: Interest] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let events: Int32
    /// The watch on the root directory, whose removal ends the thread.
    private let root: Int32
    private let onChange: @Sendable () -> Void

    #if os(Linux)
        /// Creates a watch without a directory.
        ///
        /// - Parameter onChange: Called on the watch's thread after one or more changes.
        /// - Throws: `EMFILE` or `ENOSPC` if this user's instances or watches are used up, `ENOMEM`, or `EAGAIN` if there is no
        ///   thread.
        package init(onChange: @escaping @Sendable () -> Void) throws(SystemError) {
            self.onChange = onChange
            events = inotify_init1(Int32(O_CLOEXEC))
            guard events >= 0 else { throw SystemError() }
            root = unsafe inotify_add_watch(events, "/", Self.mask(Interest(names: [], includesWriting: false)))
            guard root >= 0 else {
                let error = SystemError()
                Glibc.close(events)
                throw error
            }
            guard HostThread.start("files", { [self] in run() }) else {
                Glibc.close(events)
                throw SystemError(EAGAIN)
            }
        }

        /// Watches these directories, and no others.
        ///
        /// A directory that is gone, or that this user may not list, is left out.
        ///
        /// - Parameter directories: What is of interest in each directory, by its path.
        /// - Throws: `ENOSPC` if this user's watches are used up, or `ENOMEM`.
        package func watch(_ directories: [String: Interest]) throws(SystemError) {
            let failure = state.withLock { state -> SystemError? in
                guard !state.isClosed else { return nil }
                var interests: [Int32: Interest] = [:]
                for (path, interest) in directories {
                    let number = unsafe inotify_add_watch(events, path, Self.mask(interest))
                    guard number < 0 else {
                        interests[number, default: interest].add(interest)
                        continue
                    }
                    if errno == ENOSPC || errno == ENOMEM { return SystemError() }
                }
                for number in state.interests.keys where interests[number] == nil && number != root {
                    _ = inotify_rm_watch(events, number)
                }
                state.interests = interests
                return nil
            }
            if let failure { throw failure }
        }

        private static func mask(_ interest: Interest) -> UInt32 {
            let entries =
                UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
                | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
            guard interest.includesWriting else { return entries }
            return entries | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB)
        }

        /// Ends the watch. Nothing is reported afterwards, except by a call that is under way.
        package func close() {
            state.withLock { state in
                // The thread closes the descriptor once it sees that the watch has ended.
                if !state.isClosed { _ = inotify_rm_watch(events, root) }
                state.isClosed = true
            }
        }

        private func run() {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while !state.withLock(\.isClosed) {
                let count = unsafe read(events, &buffer, buffer.count)
                if count > 0, concerns(buffer.prefix(count)) { onChange() }
            }
            Glibc.close(events)
        }

        /// Whether one of the events is about something that is watched.
        private func concerns(_ bytes: ArraySlice<UInt8>) -> Bool {
            var isConcerned = false
            var rest = bytes
            let size = MemoryLayout<inotify_event>.size
            while rest.count >= size {
                let header = unsafe rest.withUnsafeBytes { unsafe $0.loadUnaligned(as: InotifyHeader.self) }
                let name = rest.dropFirst(size).prefix(Int(header.nameLength))
                rest = rest.dropFirst(size + name.count)
                let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                isConcerned = state.withLock { concerns($0, header, text) } || isConcerned
            }
            return isConcerned
        }

        private func concerns(_ state: State, _ header: InotifyHeader, _ name: String) -> Bool {
            // The queue overflowed: anything may have changed.
            guard header.mask & UInt32(IN_Q_OVERFLOW) == 0 else { return true }
            guard let interest = state.interests[header.watch] else { return false }
            // Without a name, the directory itself is gone, moved or unmounted.
            return name.isEmpty || interest.names?.contains(name) ?? true
        }
    #else
        /// Throws `ENOSYS`: this system has no inotify.
        package init(onChange: @escaping @Sendable () -> Void) throws(SystemError) {
            throw SystemError(ENOSYS)
        }

        /// Does nothing.
        package func watch(_ directories: [String: Interest]) throws(SystemError) {}

        /// Does nothing.
        package func close() {}
    #endif
}

#if os(Linux)
    /// The fixed part of an event, as inotify(7) lays it out; the name follows.
    private struct InotifyHeader {
        var watch: Int32
        var mask: UInt32
        var cookie: UInt32
        var nameLength: UInt32
    }
#endif
