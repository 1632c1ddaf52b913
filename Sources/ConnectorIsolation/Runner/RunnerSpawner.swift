// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
package import ConnectorBase
package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Starts runners, all from one thread that never ends: Linux kills a child when the thread that started it ends.
package final class RunnerSpawner: Sendable {
    /// The spawner of this process.
    package static let shared = RunnerSpawner()

    private struct State: Sendable {
        var jobs: [@Sendable () -> Void] = []
        var isStarted = false
    }

    private let monitor = Monitor(State())

    private init() {}

    /// A started runner.
    package struct Child: Sendable {
        /// A descriptor that identifies the process while it is open.
        package let process: Int32
        /// The process id, for people.
        package let number: Int32
        /// The host's end of the socket.
        package let socket: Int32
        /// What the runner writes to its standard output and standard error.
        package let output: Int32
        /// The socket through which the listener of its sandbox comes; -1 for none.
        package let handover: Int32

        /// Kills the process, awaits its end, and closes the descriptors.
        func end() {
            _ = runner_kill(process, number)
            var (status, signal): (Int32, Int32) = (0, 0)
            var entry = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
            while unsafe runner_reap(process, number, &status, &signal) == 0 { _ = unsafe poll(&entry, 1, 100) }
            for descriptor in [socket, process, output, handover] where descriptor >= 0 { close(descriptor) }
        }
    }

    /// A process that runs the program, but may still hand over to its successor.
    private struct Launch: Sendable {
        let process: Int32
        let handover: Int32
        let socket: Int32
        let output: Int32

        /// Blocks until the process has handed over.
        func takeOver(_ program: RunnerProgram, patience: Int32) throws(ConnectorError) -> Child {
            var (descriptor, handover): (Int32, Int32) = (-1, handover)
            let number = unsafe runner_take_over(process, &handover, patience, &descriptor)
            guard number > 0 else {
                for descriptor in [socket, output] { close(descriptor) }
                throw RunnerProgram.failure(program.path, -number)
            }
            return Child(process: descriptor, number: number, socket: socket, output: output, handover: handover)
        }

        /// Kills the process and its successor, awaits their end, and closes the descriptors.
        func abandon() {
            runner_abandon(process, handover)
            for descriptor in [socket, output] { close(descriptor) }
        }
    }

    /// A runner that is being started: its owner either waits for it or abandons it, once.
    package final class Start: Sendable {
        /// The program that it runs.
        let program: RunnerProgram
        /// What it may do.
        let sandbox: SandboxSettings
        private let patience: Int32
        private let launch = Monitor<Result<Launch, ConnectorError>?>(nil)

        fileprivate init(_ program: RunnerProgram, _ sandbox: SandboxSettings, patience: Int32) {
            self.program = program
            self.sandbox = sandbox
            self.patience = patience
        }

        /// Starts the process; only on the thread that never ends.
        fileprivate func run() {
            let result = Result { () throws(ConnectorError) in
                try RunnerSpawner.spawn(program, sandbox.arguments)
            }
            launch.withLock { $0 = result }
            launch.signal()
        }

        private func launched() throws(ConnectorError) -> Launch {
            try launch.wait { $0.map { .proceed($0) } ?? .wait(until: nil) }.get()
        }

        /// Blocks until the runner runs its program, and has entered its namespaces.
        package func wait() throws(ConnectorError) -> Child {
            try launched().takeOver(program, patience: patience)
        }

        /// Ends the runner, which has received no message, as soon as it has started. Does not wait.
        package func abandon() {
            // The start comes first: the thread runs its jobs in order.
            RunnerSpawner.shared.add { [self] in
                if let launch = try? launched() { launch.abandon() }
            }
        }
    }

    /// How long a process may take to enter its namespaces after it runs its program, in milliseconds.
    private static let patience: Int32 = 5000

    /// Starts a runner; another thread waits until it runs its program.
    ///
    /// - Parameter patience: How long it may take to enter its namespaces then, in milliseconds.
    /// - Throws: `unavailable` if there is no thread.
    package func begin(
        _ program: RunnerProgram,
        _ sandbox: SandboxSettings = SandboxSettings(level: .off),
        patience: Int32 = patience
    ) throws(ConnectorError) -> Start {
        let start = Start(program, sandbox, patience: patience)
        guard add({ start.run() }) else {
            throw ConnectorError(
                .unavailable,
                "the system cannot create a thread that starts runners",
                fix: HostThread.remedy,
                isRetryable: true
            )
        }
        return start
    }

    /// Adds a job for the thread, which the first job starts; false if the system has no thread.
    @discardableResult
    private func add(_ job: @escaping @Sendable () -> Void) -> Bool {
        let isRunning = monitor.withLock { state in
            if !state.isStarted { state.isStarted = HostThread.start("runner-spawn") { self.work() } }
            if state.isStarted { state.jobs.append(job) }
            return state.isStarted
        }
        if isRunning { monitor.signal() }
        return isRunning
    }

    private func work() {
        while true {
            let job = monitor.wait { state in
                state.jobs.isEmpty ? .wait(until: nil) : .proceed(state.jobs.removeFirst())
            }
            job()
        }
    }

    private static func spawn(_ program: RunnerProgram, _ arguments: [String]) throws(ConnectorError) -> Launch {
        let image = try program.image()
        var (own, other): (Int32, Int32) = (-1, -1)
        let paired = unsafe runner_socket_pair(&own, &other)
        guard paired == 0 else { throw RunnerProgram.failure(program.path, -paired) }
        let output: Pipe
        do throws(SystemError) {
            output = try Pipe()
        } catch {
            close(own)
            close(other)
            throw RunnerProgram.failure(program.path, error.number)
        }
        var (handover, step): (Int32, Int32) = (-1, -1)
        let words = CStrings(["\(getpid())"] + arguments)
        let number = withExtendedLifetime((words, image)) {
            unsafe runner_spawn(
                image.file.number,
                program.path,
                other,
                output.writing,
                words.pointers,
                image.variable,
                &handover,
                &step
            )
        }
        close(other)
        close(output.writing)
        guard number > 0 else {
            close(own)
            close(output.reading)
            if step == RUNNER_OPENS_NULL { throw RunnerProgram.noInput(-number) }
            if [EACCES, EPERM].contains(-number), program.unseal(image) { return try spawn(program, arguments) }
            throw RunnerProgram.failure(program.path, -number)
        }
        _ = fcntl(output.reading, F_SETFL, O_NONBLOCK)
        return Launch(process: number, handover: handover, socket: own, output: output.reading)
    }
}
