// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// The runner's instances, by the numbers that the host gives them. The thread that takes messages uses it, and is never blocked.
final class InstanceTable: Sendable {
    private let socket: RunnerSocket
    private let sandbox: RunnerSandbox
    private let dependencies: CallDependencies
    /// A runner carries few, mostly one, so they are found without a table by number.
    private let instances = Mutex<[RunnerInstance]>([])
    /// The libraries that arrive before the message that makes an instance, by its number.
    private let libraries = Mutex<[UInt32: [SealedLibrary]]>([:])

    /// A library beside a plugin, which the host has checked and sealed.
    struct SealedLibrary: Sendable {
        /// The file that it was read from.
        let path: String
        /// Its bytes; whoever loads it closes the descriptor.
        let descriptor: Int32
    }

    init(_ socket: RunnerSocket, _ sandbox: RunnerSandbox) {
        self.socket = socket
        self.sandbox = sandbox
        let workers = WorkerThreads(makeThread: Self.makeThread)
        dependencies = CallDependencies(
            operations: .shared,
            workers: workers,
            gateThreads: WorkerThreads(isLean: true, makeThread: Self.makeThread),
            cancelThreads: WorkerThreads(isLean: true, makeThread: Self.makeThread),
            clock: SystemHostClock(),
            grace: 1_000_000_000
        )
    }

    /// Whether the host's log says that a thread is missing.
    private static let hasReported = Atomic<Bool>(false)

    /// Starts a thread, and says in the host's log if the system cannot create one.
    private static let makeThread: HostThread.Make = { name, body in
        if HostThread.start(name, body) { return true }
        guard !hasReported.exchange(true, ordering: .relaxed) else { return false }
        RunnerFailure.report(
            "the system cannot create a thread, so calls wait for one: \(HostThread.remedy), "
                + "or bound plugins by \"threads\" in their sandbox"
        )
        return false
    }

    /// Takes a message from the host, which is well formed: both sides are of one build.
    func receive(_ frame: consuming Frame) {
        let number = frame.instance
        if frame.kind == .lane { return openLane(frame) }
        if frame.kind == .library { return keepLibrary(number, frame) }
        if frame.kind == .create { return create(number, frame) }
        guard let instance = instance(number) else { return }
        var message = MessageReader(frame.payload)
        do throws(ConnectorError) {
            switch frame.kind {
            case .begin: try instance.begin(&message)
            case .call: try instance.call(&message)
            case .cancel: instance.cancel(try message.integer())
            case .dispose:
                instance.dispose { [self] in
                    instances.withLock { $0.removeAll { $0.number == number } }
                    socket.send(.disposed, instance: number, MessageWriter())
                }
            default: try instance.services.receive(frame.kind, &message)
            }
        } catch {
            instance.misbehaved("the host's message cannot be read: \(error.message)")
        }
    }

    private func instance(_ number: UInt32) -> RunnerInstance? {
        instances.withLock { instances in instances.first { $0.number == number } }
    }

    private func openLane(_ frame: consuming Frame) {
        guard let descriptor = frame.descriptor.take() else { return }
        LaneThread.start(descriptor) { [self] number in instance(number) }
    }

    private func keepLibrary(_ number: UInt32, _ frame: consuming Frame) {
        var frame = frame
        var message = MessageReader(frame.payload)
        guard let path = try? message.text(), let descriptor = frame.takeDescriptor() else { return }
        let library = SealedLibrary(path: path, descriptor: descriptor)
        libraries.withLock { $0[number, default: []].append(library) }
    }

    private func create(_ number: UInt32, _ frame: consuming Frame) {
        var frame = frame
        var message = MessageReader(frame.payload)
        guard let description = try? InstanceDescription(&message) else { return }
        let image = frame.takeDescriptor()
        let instance = RunnerInstance(number, description, socket, dependencies, sandbox)
        instances.withLock { $0.append(instance) }
        // Constructors, the entry function and `create` may block.
        let libraries = libraries.withLock { $0.removeValue(forKey: number) } ?? []
        dependencies.gateThreads.run { instance.create(image: image, libraries: libraries) }
    }
}
