// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import ConnectorServices
internal import Logging
internal import Synchronization

/// One instance of a gate's plugin and all that belongs to it: services, host context, channel, and its seat at the
/// door.
///
/// The gate owns it, opens it once, and ends it once with ``end()`` in whatever state it is. Every further caller of
/// `end` awaits the same end.
///
/// ```
/// made ──open──► loading ──► created ──► open ──takeCalls──► taking calls
///   └───────────────┴───────────┴─────────┴──────────────────────┴──end──► ended
/// ```
final class Generation: Sendable {
    let environment: GateEnvironment
    let plan: GatePlan
    let door: Door
    let logger: Logger
    let services: GateServices
    let context: HostContext
    let state = Mutex(State())
    /// Arrives when `create` has returned, if it is called at all.
    let created = OneShot<Void>()
    let ended = OneShot<Void>()

    struct State {
        /// What runs on the thread that creates and opens the instance, as long as the plugin holds it.
        var step: Step?
        /// Whether the plugin still held that thread at the deadline.
        var isOverdue = false
        /// Whether a thread loads the plugin and creates the instance.
        var isCreating = false
        /// The instance's channel; nil before `create` returned, and after it failed.
        var channel: (any Channel)?
        /// The operation that completes when the plugin has opened.
        var opening: UInt64?
        /// Whether the plugin's `open` was called, so that it may complete.
        var hasBegun = false
        var hasOpened = false
        /// The seat at the door, where callers are counted.
        var seat: Int?
        /// Whether the gate has ended the instance.
        var isEnding = false
        /// Whether `create` is no longer awaited: its thread then destroys the instance itself.
        var isAbandoned = false
    }

    /// What the plugin does on the thread that creates and opens its instance.
    enum Step {
        /// The image's constructors run, or its entry function, or it waits for the dynamic linker.
        case load
        case create
        case open
    }

    /// Prepares the services lent to the plugin, without running any of its code.
    ///
    /// - Parameters:
    ///   - plan: What to open, with the current secrets.
    ///   - door: Where calls enter.
    ///   - onMisbehaviour: Called for every rule of the ABI that the plugin breaks; refers to the gate weakly.
    init(
        _ plan: GatePlan,
        door: Door,
        environment: GateEnvironment,
        logger: Logger,
        onMisbehaviour: @escaping @Sendable (String) -> Void
    ) {
        self.plan = plan
        self.door = door
        self.environment = environment
        self.logger = logger
        let manifest = try? plan.plugin.get().manifest
        services = GateServices(
            host: environment.services,
            context: GateServices.Context(
                path: plan.path,
                services: manifest.map { $0.requiredServices + $0.optionalServices } ?? [],
                egress: plan.material.egress.map(\.description),
                secret: { [secrets = plan.material.secrets] in secrets[$0]?.reveal() },
                screen: environment.screen,
                propagatesTrace: plan.propagatesTrace,
                logger: logger
            )
        )
        context = HostContext.lend(to: services, onMisbehaviour: onMisbehaviour)
    }

    /// The configuration and secrets that the instance was made with.
    var material: GatePlan.Material { plan.material }

    /// HTTP traffic so far.
    var counters: HTTPCounters { services.counters }

    /// Whether the plugin can prove that the outside world still answers.
    var canProbe: Bool { state.withLock(\.channel)?.canProbe ?? false }

    /// The loaded bytes.
    var content: ImageContent? { state.withLock(\.channel)?.instance?.plugin.content }

    // MARK: Proofs

    /// Proves once that the outside world still answers.
    func probe() async -> Result<[Evidence], ConnectorError> {
        guard let channel = state.withLock(\.channel) else { return .failure(closed) }
        let start = environment.clock.now()
        return await run(.probe, on: channel).flatMap { environment.evidence(in: $0, startedAt: start) }
    }

    func run(_ phase: InstancePhase, on channel: any Channel) async -> OperationTable.Outcome {
        let deadline = environment.deadline(after: plan.timeout)
        return await environment.calls.run(
            overdue: {
                let name = phase.rawValue
                return channel.functionsInside.contains(name) ? .returning(from: name) : .completion(of: name)
            },
            owner: context.owner,
            by: deadline,
            onDeadline: { channel.cancel($0) },
            { channel.begin(phase, operation: $0, deadline: deadline) }
        )
    }
}
