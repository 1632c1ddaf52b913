// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The state of the host's process that a plugin must leave unchanged.
struct ProcessState: Sendable {
    /// How many threads there are; 0 where the system does not report it.
    let threads: Int
    /// How many descriptors are open; 0 where the system does not report it.
    var descriptors: Int { files.count }
    /// What each open descriptor refers to.
    private let files: [Int32: String]
    /// Whether the process has children; reading the state reaps one that has ended.
    let hasChildren: Bool
    /// The minor page faults of all reaped children; it grows with every child that ends and is reaped.
    let forks: Int
    private let variables: ProcessEnvironment
    private let directory: String
    private let mask: mode_t
    private let locale: String
    private let handlers: [Int32: UInt]

    /// The current state.
    static var current: ProcessState {
        ProcessState(
            threads: (try? Directory.entries(of: "/proc/self/task").count) ?? 0,
            files: openFiles,
            hasChildren: hasAnyChildren,
            forks: endedChildren,
            variables: .current,
            directory: workingDirectory,
            mask: fileMask,
            locale: unsafe setlocale(LC_ALL, nil).map { unsafe String(cString: $0) } ?? "",
            handlers: allHandlers
        )
    }

    /// The files, sockets and pipes that are open now and were not before. Event queues are left out: the process's own threads may
    /// open one at any time.
    func files(since before: ProcessState) -> [String] {
        files.filter { before.files[$0.key] != $0.value && !$0.value.isEmpty }.map(\.value).sorted()
    }

    /// What each descriptor refers to; empty for one without a name or kind, such as an event queue.
    private static var openFiles: [Int32: String] {
        let names = (try? Directory.entries(of: "/proc/self/fd").map(\.name)) ?? []
        // The descriptor that read the directory is closed by now.
        return names.compactMap { Int32($0) }.reduce(into: [:]) { files, descriptor in
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return }
            files[descriptor] =
                switch status.st_mode & S_IFMT {
                case 0: ""
                case S_IFSOCK: "a socket"
                case S_IFIFO: "a pipe"
                default: "/proc/self/fd/\(descriptor)".realPath
                }
        }
    }

    /// The changes since an earlier state, each as the object of a sentence.
    func changes(since before: ProcessState) -> [String] {
        var changes: [String] = []
        let names = variables.differences(from: before.variables)
        if !names.isEmpty { changes.append("the environment: \(names.joined(separator: ", "))") }
        if directory != before.directory { changes.append("the working directory to \(directory)") }
        if mask != before.mask { changes.append("the file mask to \(String(mask, radix: 8))") }
        if locale != before.locale { changes.append("the locale to \(locale)") }
        for (signal, handler) in handlers.sorted(by: { $0.key < $1.key }) where before.handlers[signal] != handler {
            // The host's own HTTP client ignores SIGPIPE.
            if signal != SIGPIPE || handler != Self.ignores { changes.append("the handler of the signal \(signal)") }
        }
        return changes
    }

    /// `SIG_IGN`, as a number.
    private static let ignores: UInt = 1

    /// The private memory of the process, in bytes; 0 if the system does not report it.
    static var residentBytes: Int {
        Int(ProcessMemory.privateBytes(of: getpid()) ?? 0)
    }

    private static var hasAnyChildren: Bool {
        var status: Int32 = 0
        // Without children, `waitpid` fails.
        return unsafe waitpid(-1, &status, WNOHANG) >= 0
    }

    /// The minor page faults of all reaped children; 0 if there were none.
    private static var endedChildren: Int {
        var usage = rusage()
        #if canImport(Glibc)
            let result = unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        #else
            let result = unsafe getrusage(RUSAGE_CHILDREN, &usage)
        #endif
        return result == 0 ? Int(usage.ru_minflt) : 0
    }

    private static var workingDirectory: String {
        guard let text = unsafe getcwd(nil, 0) else { return "" }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    private static var fileMask: mode_t {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }

    private static var allHandlers: [Int32: UInt] {
        var handlers: [Int32: UInt] = [:]
        for signal in Int32(1)..<32 where signal != SIGKILL && signal != SIGSTOP {
            var action = sigaction()
            guard unsafe sigaction(signal, nil, &action) == 0 else { continue }
            handlers[signal] = unsafe withUnsafeBytes(of: &action) { unsafe $0.loadUnaligned(as: UInt.self) }
        }
        return handlers
    }
}
