// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What the host services of all gates share: the clock, the HTTP client, the threads for callbacks.
///
/// One for each host. Making it costs nothing: each part starts when a plugin first needs it.
package final class HostServices: Sendable {
    /// The ids of all services, as manifests name them.
    package static let identifiers = ["log/1", "http/1", "clock/1"]

    /// How the services behave.
    package let options: Options
    /// The time, for deadlines of the host too.
    package var clock: any HostClock { options.clock }
    /// Where plugins' callbacks run.
    let callbacks: WorkerThreads
    /// Sends the requests of all gates; connects nothing before the first.
    let http: HTTPTransport

    /// Starts nothing.
    init(options: Options = Options(), threads: WorkerThreads = WorkerThreads()) {
        self.options = options
        callbacks = threads
        http = HTTPTransport(options: options.http)
    }

    /// Ends what was started; call it when every gate is closed.
    package func shutdown() async {
        await http.shutdown()
    }
}

extension HostServices {
    /// How the services of a host behave.
    package struct Options: Sendable {
        /// The time.
        package var clock: any HostClock
        /// Requests and their limits.
        package var http: HTTPOptions

        /// The system's clock and the usual limits.
        package init(clock: any HostClock = SystemHostClock(), http: HTTPOptions = HTTPOptions()) {
            self.clock = clock
            self.http = http
        }
    }
}
