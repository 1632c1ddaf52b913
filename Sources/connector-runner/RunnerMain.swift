// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program `connector-runner`, which only a host starts.
@main
enum RunnerMain {
    /// Serves the host at the other end of the inherited socket, whose process the first argument names. Never returns: the process ends
    /// with its host.
    static func main() {
        let arguments = ProcessArguments.all
        guard arguments.count >= 2, let parent = Int32(arguments[1]),
            let settings = SandboxSettings(arguments: Array(arguments.dropFirst(2)))
        else {
            RunnerFailure.report(
                "connector-runner is started by connector-host, for connectors with \"isolation\": \"process\""
            )
            // EX_USAGE of sysexits.h(3).
            exit(64)
        }
        guard runner_die_with(parent) == 0 else { _exit(0) }
        unsafe runner_set_name("connector-runner")
        #if os(Linux)
            // The descriptor of its own program, from which it was started.
            close(RUNNER_SOCKET + 1)
        #endif
        // Before the first thread, and before any plugin code. With namespaces, another process continues from here.
        let sandbox = RunnerSandbox(settings, host: parent)
        let watch = runner_watch(RUNNER_SOCKET, 0)
        // Locks of the Swift runtime identify their owner by its thread id, and keep the id that this thread had in the other
        // process: a thread that met it at a lock would wait for a thread that does not exist. So another thread serves the host, and
        // this one waits for the host's end, which threads that sleep on a futex do not notice.
        let isServed = HostThread.start("messages") { serve(sandbox) }
        guard watch >= 0, isServed else {
            _exit(RunnerEnd.withoutThread)
        }
        _ = runner_await(watch)
        _exit(RunnerEnd.disconnected)
    }

    /// Greets the host, and serves it until it has ended or lets the runner go: plugins have no say in that.
    private static func serve(_ sandbox: RunnerSandbox) -> Never {
        let socket = RunnerSocket(RUNNER_SOCKET)
        var messages = RunnerMessages(RUNNER_SOCKET)
        guard let page = greet(socket, &messages, sandbox) else { _exit(1) }
        unsafe CrashNote.install(in: page.note)
        ExitGuard.begin()
        take(&messages, page, socket, InstanceTable(socket, sandbox))
        _exit(RunnerEnd.disconnected)
    }

    /// Reads the host's first message, and answers it.
    private static func greet(
        _ socket: RunnerSocket,
        _ messages: inout RunnerMessages,
        _ sandbox: RunnerSandbox
    ) -> SharedPage? {
        guard var frame = try? messages.next(), frame.kind == .hello, let descriptor = frame.descriptor.take() else {
            RunnerFailure.report("the first message is not one of a host")
            return nil
        }
        var message = MessageReader(frame.payload)
        var answer = MessageWriter()
        Handshake.own.put(to: &answer)
        let wantsRings: Bool
        do throws(ConnectorError) {
            let host = try Handshake(&message)
            // The layout of everything else may differ, so a runner that does not match says no more than this.
            guard Handshake.mismatch(host: host, runner: .own) == nil else {
                socket.send(.ready, instance: 0, answer)
                return nil
            }
            wantsRings = try message.bool()
        } catch {
            RunnerFailure.report(error.message)
            return nil
        }
        guard let page = SharedPage(descriptor) else {
            RunnerFailure.report("the memory that the host shares is not sealed")
            return nil
        }
        page.take()
        let usesRings = wantsRings && page.toHost.canWake
        answer.put(usesRings)
        answer.put(sandbox.evidence)
        answer.put(sandbox.isWhole)
        socket.send(.ready, instance: 0, answer)
        if usesRings {
            socket.use(RingWriter(page.toHost))
            messages.use(RingReader(page.toRunner) { socket.send(.room, instance: 0, MessageWriter()) })
        } else {
            messages.useSocket()
        }
        return page
    }

    /// Takes messages until the socket ends. Nothing here blocks or runs plugin code. The host sends no malformed message, so one that is
    /// malformed has been written over.
    private static func take(
        _ messages: inout RunnerMessages,
        _ page: SharedPage,
        _ socket: RunnerSocket,
        _ instances: InstanceTable
    ) {
        do throws(ConnectorError) {
            while let frame = try messages.next() {
                page.take()
                if frame.kind == .ping {
                    // A thread that is blocked in a write may delay the answer, but not forever: the host reads.
                    socket.send(.pong, instance: 0, MessageWriter())
                } else {
                    instances.receive(frame)
                }
            }
        } catch {
            RunnerFailure.end(because: error)
        }
    }
}
