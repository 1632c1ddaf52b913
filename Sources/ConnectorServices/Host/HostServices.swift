// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorInvocation
package import ConnectorPlatform
package import Logging
internal import Synchronization

/// The resources that the services of all gates share: the clock, the HTTP client, the threads for callbacks.
///
/// One per host. Creating it is free: each resource starts when a plugin first needs it.
package final class HostServices: Sendable {
    /// The options of the services.
    package let options: Options
    /// The source of the time, for plugins and for the host's deadlines.
    package var clock: any HostClock { options.clock }
    /// The threads for callbacks into plugins.
    package let callbacks: WorkerThreads
    /// Sends the requests of all gates; connects nothing before the first.
    package let http: HTTPTransport
    /// Delivers plugins' events to listeners.
    package let events = EventBus()
    private let storages = Mutex<[String: GateStorage]>([:])
    private let recordings = Mutex<[RecordingTarget: GateRecording]>([:])

    /// Creates the services without starting any.
    package convenience init(options: Options = Options()) {
        self.init(options: options, threads: WorkerThreads())
    }

    /// Creates the services without starting any; callbacks run on shared threads.
    package init(options: Options, threads: WorkerThreads) {
        self.options = options
        callbacks = threads
        http = HTTPTransport(options: options.http)
    }

    /// Stops the event bus and the HTTP client, and writes what recordings still hold in memory. Call it once every
    /// gate is closed.
    package func stop() async {
        events.finish()
        await http.stop()
        let recordings = recordings.withLock { Array($0.values) }
        guard !recordings.isEmpty else { return }
        let written = OneShot<Void>()
        callbacks.run {
            for recording in recordings { recording.flush() }
            written.send()
        }
        await written.wait()
    }

    /// The recording of a target, shared by all instances and gates that are recorded there.
    func recording(of target: RecordingTarget) -> GateRecording {
        recordings.withLock { recordings in
            if let recording = recordings[target] { return recording }
            let recording = GateRecording(target, clock: clock, workers: callbacks)
            recordings[target] = recording
            return recording
        }
    }

    /// How many responses a recording has left out so far.
    package func responsesLeftOut(at target: RecordingTarget) -> Int { recording(of: target).leftOut }

    /// Records a call of a gate that has ended. Blocks on the disk.
    package func record(_ call: GateCallEnd, at target: RecordingTarget, _ redactor: Redactor, logger: Logger) {
        recording(of: target).add(call, redactor, logger)
    }

    /// The storage of a gate, shared by all its instances.
    package func storage(of gate: String, logger: Logger) -> GateStorage {
        storages.withLock { storages in
            if let storage = storages[gate] { return storage }
            let storage = GateStorage(gate: gate, directory: options.state, logger: logger)
            storages[gate] = storage
            return storage
        }
    }
}

extension HostServices {
    /// Lets a gate that takes the place of another use the other's stored values, if there are any; they are stored
    /// under the old path until ``moveStorage(of:to:)``.
    package func shareStorage(of gate: String, with other: String, logger: Logger) {
        let storage = storage(of: gate, logger: logger)
        guard storage.isStored else { return }
        storages.withLock { $0[other] = storage }
    }

    /// Undoes ``shareStorage(of:with:logger:)``.
    package func unshareStorage(of gate: String, with other: String) {
        storages.withLock { storages in
            if let storage = storages[other], storage === storages[gate] { storages[other] = nil }
        }
    }

    /// Stores the values that two gates share under the path of the second one alone. Blocks on the disk.
    package func moveStorage(of gate: String, to other: String) throws(ServiceFailure) {
        let shared = storages.withLock { storages -> GateStorage? in
            guard let storage = storages[other], storage === storages[gate] else { return nil }
            storages[gate] = nil
            return storage
        }
        try shared?.move(to: other)
    }
}

extension HostServices {
    /// Options of a host's services.
    package struct Options: Sendable {
        /// The source of the time.
        package var clock: any HostClock
        /// The options of requests.
        package var http: HTTPOptions
        /// The maximum size of the arguments of one gate's calls of used gates in progress, together, in bytes.
        package var argumentsLimit = 256 << 20
        /// The directory of `storage/1`.
        package var state: StateDirectory

        /// Creates options; by default, the system's clock and the default limits.
        package init(
            clock: any HostClock = SystemHostClock(),
            http: HTTPOptions = HTTPOptions(),
            state: StateDirectory = StateDirectory()
        ) {
            self.clock = clock
            self.http = http
            self.state = state
        }
    }
}
