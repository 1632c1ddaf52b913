// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorInvocation
internal import ConnectorPlatform
package import Logging
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The stored values of one gate, in memory and in a file, shared by all its instances.
///
/// Several hosts of one application may share the file. A change locks the directory, reads the others' changes and
/// writes; a read checks whether the file has changed. Calls block on the disk.
package final class GateStorage: Sendable {
    private enum State {
        /// Not read yet, or the last read failed.
        case unread
        case read(StoredValues, FileStamp?)
    }

    /// The path of the gate, which changes when the gate moves.
    private let path: Mutex<String>
    private let directory: StateDirectory
    private let logger: Logger
    /// Held while the file is read or written, so that memory and disk agree. Only plugins' threads and worker threads
    /// block here; the header warns that a call waits for the disk.
    private let state = Mutex(State.unread)
    /// Where corrupt values were put that the log does not mention yet.
    private let corruption = Mutex<String?>(nil)

    /// Creates the storage without reading the file.
    package init(gate: String, directory: StateDirectory, logger: Logger) {
        path = Mutex(gate)
        self.directory = directory
        self.logger = logger
    }

    private var gate: String { path.withLock(\.self) }

    /// Whether there are stored values; false if that cannot be determined.
    package var isStored: Bool {
        ((try? directory.file(for: gate).stamp()) ?? nil) != nil
    }

    /// Moves the values to a gate with another path. Instances that use the storage keep it.
    package func move(to gate: String) throws(ServiceFailure) {
        try state.withLock { state throws(ServiceFailure) in
            do throws(SystemError) {
                let (old, new) = (try directory.file(for: self.gate), try directory.file(for: gate))
                let lock = try old.lock()
                defer { extendLifetime(lock) }
                if try old.stamp() != nil, unsafe rename(old.path, new.path) != 0 { throw SystemError() }
            } catch {
                throw unavailable("moved", error)
            }
            path.withLock { $0 = gate }
            state = .unread
        }
    }

    /// The value of a key.
    package func value(of key: [UInt8]) throws(ServiceFailure) -> [UInt8]? {
        try locked { state throws(ServiceFailure) in try values(&state)[key] }
    }

    /// The keys that start with a prefix.
    package func keys(startingWith prefix: [UInt8]) throws(ServiceFailure) -> [[UInt8]] {
        try locked { state throws(ServiceFailure) in try values(&state).keys(startingWith: prefix) }
    }

    /// Writes a value.
    package func set(_ key: [UInt8], to value: [UInt8]) throws(ServiceFailure) {
        try change { values throws(ServiceFailure) in
            guard values[key] != value else { return false }
            try values.set(key, to: value)
            return true
        }
    }

    /// Writes a value if the key still has the expected one; nil stands for none.
    ///
    /// - Throws: A failure of status `CONNECTOR_CONFLICT` if it has another.
    package func replace(
        _ expected: [UInt8]?,
        with value: [UInt8],
        of key: [UInt8]
    ) throws(ServiceFailure) {
        try change { values throws(ServiceFailure) in
            guard values[key] == expected else {
                throw ServiceFailure(status: Int32(CONNECTOR_CONFLICT), message: "the stored value has changed")
            }
            guard expected != value else { return false }
            try values.set(key, to: value)
            return true
        }
    }

    /// Removes a value.
    ///
    /// - Returns: Whether there was one.
    package func remove(_ key: [UInt8]) throws(ServiceFailure) -> Bool {
        try change { values throws(ServiceFailure) in values.remove(key) != nil }
    }

    /// Changes the values, and writes them if `body` returns true.
    @discardableResult
    private func change(
        _ body: (inout StoredValues) throws(ServiceFailure) -> Bool
    ) throws(ServiceFailure) -> Bool {
        try locked { state throws(ServiceFailure) in
            let file: StateFile
            let lock: FileLock
            do throws(SystemError) {
                file = try directory.file(for: gate)
                lock = try file.lock()
            } catch {
                throw unavailable("written", error)
            }
            defer { extendLifetime(lock) }
            var values = try values(&state)
            guard try body(&values) else { return false }
            do throws(SystemError) {
                try file.write(values.encoded)
                state = .read(values, try file.stamp())
            } catch {
                throw unavailable("written", error)
            }
            return true
        }
    }

    /// Works on the state, and then logs what was corrupt, not under the lock: a log handler is the application's code.
    private func locked<Value: Sendable>(
        _ body: (inout sending State) throws(ServiceFailure) -> Value
    ) throws(ServiceFailure) -> Value {
        defer {
            if let path = corruption.withLock({ $0.take() }) {
                logger.error(
                    "stored values are corrupt; starting without any",
                    metadata: ["connector": "\(gate)", "kept": "\(path)"]
                )
            }
        }
        return try state.withLock { state throws(ServiceFailure) in try body(&state) }
    }

    /// The values, read on first use and after another host has changed them.
    private func values(_ state: inout State) throws(ServiceFailure) -> StoredValues {
        do throws(SystemError) {
            let file = try directory.file(for: gate)
            if case .read(let values, let stamp) = state, try file.stamp() == stamp { return values }
            let (values, stamp) = try read(file)
            state = .read(values, stamp)
            return values
        } catch {
            throw unavailable("read", error)
        }
    }

    private func read(_ file: StateFile) throws(SystemError) -> (StoredValues, FileStamp?) {
        guard let (bytes, stamp) = try file.content() else { return (StoredValues(), nil) }
        // Do not even read from another user's directory.
        close(try file.openDirectory())
        file.removeLeftovers()
        do throws(StoredValues.Fault) {
            return (try StoredValues(decoding: bytes), stamp)
        } catch .newer {
            throw SystemError(ENOTSUP)
        } catch {
            try file.setAside()
            corruption.withLock { $0 = "\(file.path).corrupt" }
            return (StoredValues(), nil)
        }
    }

    private func unavailable(_ verb: String, _ error: SystemError) -> ServiceFailure {
        let place = directory.path.map { "\($0)/\(StateDirectory.fileName(for: gate))" }
        let reason =
            switch error.number {
            case EINVAL: "it is not a file"
            case EPERM: "the directory belongs to another user"
            case EAGAIN: "another process holds the lock"
            default: "\(error)"
            }
        return ServiceFailure(
            status: Int32(CONNECTOR_UNAVAILABLE),
            message: place.map { "the stored values in \($0) cannot be \(verb): \(reason)" }
                ?? "there is no directory for stored values: \(StateDirectory.absence)",
            domain: "errno",
            detail: error.number,
            isRetryable: true
        )
    }
}
