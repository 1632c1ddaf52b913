// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform
package import Logging
internal import Synchronization

/// What the host services of all gates share: the clock, the HTTP client, the threads for callbacks.
///
/// One for each host. Making it costs nothing: each part starts when a plugin first needs it.
package final class HostServices: Sendable {
    /// The ids of all services, as manifests name them.
    package static let identifiers = ["log/1", "http/1", "clock/1", "events/1", "storage/1"]

    /// How the services behave.
    package let options: Options
    /// The time, for deadlines of the host too.
    package var clock: any HostClock { options.clock }
    /// Where plugins' callbacks run.
    package let callbacks: WorkerThreads
    /// Sends the requests of all gates; connects nothing before the first.
    package let http: HTTPTransport
    /// Takes plugins' events to whoever listens.
    package let events = EventBus()
    private let storages = Mutex<[String: GateStorage]>([:])

    /// Starts nothing.
    package convenience init(options: Options = Options()) {
        self.init(options: options, threads: WorkerThreads())
    }

    /// Starts nothing; callbacks run on threads that others use too.
    package init(options: Options, threads: WorkerThreads) {
        self.options = options
        callbacks = threads
        http = HTTPTransport(options: options.http)
    }

    /// Ends what was started; call it when every gate is closed.
    package func shutdown() async {
        events.finish()
        await http.shutdown()
    }

    /// The values of a gate, the same for all its instances.
    package func storage(of gate: String, logger: Logger) -> GateStorage {
        storages.withLock { storages in
            if let storage = storages[gate] { return storage }
            let storage = GateStorage(gate: gate, directory: StateDirectory(options.stateDirectory), logger: logger)
            storages[gate] = storage
            return storage
        }
    }
}

extension HostServices {
    /// How the services of a host behave.
    package struct Options: Sendable {
        /// The time.
        package var clock: any HostClock
        /// Requests and their limits.
        package var http: HTTPOptions
        /// Where `storage/1` keeps its files; nil for the user's usual place: see ``StateDirectory``.
        package var stateDirectory: String?

        /// The system's clock and the usual limits.
        package init(
            clock: any HostClock = SystemHostClock(),
            http: HTTPOptions = HTTPOptions(),
            stateDirectory: String? = nil
        ) {
            self.clock = clock
            self.http = http
            self.stateDirectory = stateDirectory
        }
    }
}
