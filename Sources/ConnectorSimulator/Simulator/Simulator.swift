// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform
public import ServiceLifecycle
internal import Synchronization

/// The vendors' HTTP APIs, served on the loopback interface for development, demonstrations and tests.
///
/// A single vendor is served at the root; several are served under `/NAME/`. Each responds like the real API, errors
/// included, and keeps its data for as long as the simulator runs. `GET /_received` returns the received requests,
/// without credentials; `DELETE /_received` clears them.
///
/// ```swift
/// let simulator = try Simulator(SimulatorOptions())
/// async let running: Void = simulator.run()
/// let url = try await simulator.baseURL(of: "segment")
/// ```
public final class Simulator: Service, Sendable {
    /// Routes requests to the vendors.
    private let router: SimulatorRouter
    /// Listens on the loopback interface, and passes each request to the router.
    private let server: HTTPServer
    /// The port, once the server listens, or why it never did.
    private let listening = OneShot<Result<Int, SimulatorError>>()
    /// Why the server no longer listens.
    private let ended = OneShot<SimulatorError>()
    /// Whether ``run()`` has been called.
    private let hasBegun = Atomic(false)

    /// The world with the timeline, and the clock it runs on; nil for no timeline.
    private let happening: (world: SimulatedWorld, clock: any HostClock)?

    /// Prepares the vendors; the server listens only in ``run()``.
    public convenience init(_ options: SimulatorOptions = SimulatorOptions()) throws(SimulatorError) {
        try self.init(options, nil)
    }

    init(
        _ options: SimulatorOptions,
        _ happening: (world: SimulatedWorld, clock: any HostClock)?
    ) throws(SimulatorError) {
        self.happening = happening
        let router = try SimulatorRouter(options)
        let responder = SimulatorResponder(
            router: router,
            clock: options.clock,
            now: options.now,
            encodedLimit: options.bodyLimits.encoded
        )
        self.router = router
        self.server = HTTPServer(.address("127.0.0.1", port: options.port)) { request in responder.admit(request) }
    }

    /// Serves, once, until ``stop()``, a graceful shutdown or the task's cancellation.
    ///
    /// - Throws: The system's error if the port cannot be bound; a `ConnectorError` of code `invalid` if this was called before.
    @concurrent
    public func run() async throws {
        guard !hasBegun.exchange(true, ordering: .relaxed) else {
            throw ConnectorError(.invalid, "the simulator was run before", fix: "create another one")
        }
        let timeline = happening.map { world, clock in
            SimulatedTimeline(world, clock: clock, vendor: vendors.first.map { (self, $0) }) { _, _ in }
        }
        timeline?.start()
        defer { timeline?.stop() }
        do {
            try await withGracefulShutdownHandler {
                try await server.run { port in listening.send(.success(port)) }
            } onGracefulShutdown: {
                self.stop()
            }
            hasEnded("it was stopped")
        } catch {
            hasEnded(String(describing: error))
            throw error
        }
    }

    private func hasEnded(_ reason: String) {
        ended.send(.notRunning(reason))
        listening.send(.failure(.notRunning(reason)))
    }

    /// Stops the server: requests in progress finish, streams end, then ``run()`` returns.
    public func stop() {
        server.finish()
    }

    /// The vendors served, in the order they are listed.
    public var vendors: [String] { router.names }

    /// The port; waits until the server listens, or until the task is cancelled.
    public var port: Int {
        get async throws(SimulatorError) {
            guard let listening = await listening.waitUnlessCancelled() else {
                throw .notRunning("the task was cancelled while it waited")
            }
            let port = try listening.get()
            if let error = ended.value { throw error }
            return port
        }
    }

    /// The URL to use instead of the vendor's server, without a trailing slash; waits until the server listens.
    public func baseURL(of vendor: String) async throws(SimulatorError) -> String {
        guard vendors.contains(vendor) else { throw .unknownVendor(vendor) }
        let root = "http://127.0.0.1:\(try await port)"
        return router.isPrefixed ? "\(root)/\(vendor)" : root
    }

    /// The `config` of a connector for the simulated vendor, with demonstration credentials; waits until the server
    /// listens.
    public func configuration(of vendor: String) async throws(SimulatorError) -> [String: String] {
        let baseURL = try await baseURL(of: vendor)
        return VendorCatalogue.type(named: vendor)?.configuration(baseURL: baseURL) ?? [:]
    }

    /// Serves a vendor that accepts a set of credentials, from now on. One that is already served keeps its data and accepts
    /// this set as well.
    ///
    /// - Parameter set: The credentials, keyed like the configuration of the vendor's adapter.
    /// - Throws: `unknownVendor` if no vendor has the name.
    package func serve(_ vendor: String, accepting set: [String: String]) throws(SimulatorError) {
        try router.serve(vendor, accepting: set)
    }

    /// Serves recorded answers under a name, from now on.
    ///
    /// - Parameter set: The credentials whose values are redacted in ``received(by:)``, and in the response to a request without an answer.
    package func serve(_ answers: RecordedAnswers, as name: String, hiding set: [String: String]) {
        router.serve(answers, as: name, secrets: [set])
    }

    /// The requests that one vendor received, or all of them; the newest is last.
    public func received(by vendor: String? = nil) -> [RecordedRequest] {
        router.recording.snapshot(of: vendor).requests
    }

    /// Replaces the active faults, from the next request on.
    public func setFaults(_ faults: [Fault]) {
        router.faults.replace(with: faults)
    }

    /// Begins a timeline's fault; it replaces one with the same number.
    func begin(_ fault: Fault, number: Int) { router.faults.begin(fault, number: number) }

    /// Puts a timeline's answers before those of a vendor; they replace those with the same number.
    func begin(_ answers: RecordedAnswers, of vendor: String, number: Int) {
        router.overlays.begin(answers, of: vendor, number: number)
    }

    /// Ends what a timeline's entry began.
    func end(_ number: Int) {
        router.faults.end(number)
        router.overlays.end(number)
    }

    /// Answers a request without a connection; its body may have a content encoding.
    package func answer(_ request: SimulatedRequest) -> SimulatedExchange {
        router.answer(request)
    }
}
