// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// The event loop: it passes events to the session, and performs the session's requests on the terminal and the host.
enum ConsoleLoop {
    /// An event for the session.
    private enum Event: Sendable {
        case device(TerminalDevice.Event)
        /// Something changed. The next change follows once `taken` is sent.
        case changed(taken: OneShot<Void>)
        case snapshot(ConsoleSnapshot, ConsoleRegistry)
        case done(ActOutcome)
    }

    /// The minimum time between two snapshots, except for those that a key requested.
    private static let interval: Duration = .milliseconds(100)

    /// Shows a model until the operator quits or the task is cancelled.
    ///
    /// - Parameter terminal: The terminal, by default the controlling terminal of the process.
    static func run(
        _ model: any ConsoleModel,
        _ options: TerminalConsole.Options,
        on terminal: String = "/dev/tty"
    ) async throws(ConnectorError) {
        try checkTerminal(options)
        guard let capture = MessageCapture() else {
            throw ConnectorError(.unavailable, "the process is out of file descriptors")
        }
        let (events, sink) = AsyncStream.makeStream(of: Event.self)
        let device: TerminalDevice
        do throws(ConnectorError) {
            device = try TerminalDevice(terminal, messages: capture.writing) { sink.yield(.device($0)) }
        } catch {
            capture.stop()
            throw error
        }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        _ = capture.start { change.yield() }
        var registry = options.registry
        registry.register(messages(capture))
        let console = Console(model, registry)
        let following = [
            Task { await console.run() },
            Task { for await _ in console.changes { change.yield() } },
            Task {
                for await _ in changes {
                    // A terminal that accepts nothing holds the loop up; changes must not pile up meanwhile.
                    let taken = OneShot<Void>()
                    sink.yield(.changed(taken: taken))
                    _ = await taken.waitUnlessCancelled()
                    try? await Task.sleep(for: interval)
                }
            },
        ]
        let loop = Loop(console, device, sink)
        await loop.run(events, options)
        for task in following { task.cancel() }
        await device.stop()
        capture.stop()
    }

    /// Checks that the terminal can move its cursor.
    private static func checkTerminal(_ options: TerminalConsole.Options) throws(ConnectorError) {
        let kind = options.environment["TERM"] ?? ""
        guard !kind.isEmpty, kind != "dumb" else {
            throw ConnectorError(.unsupported, "the terminal cannot move its cursor: TERM is \"\(kind)\"")
        }
    }

    /// The scene with the output of the process, which no other platform has.
    private static func messages(_ capture: MessageCapture) -> SceneDescriptor {
        SceneDescriptor("messages", title: "Messages") { context in
            guard context.route.parts.count == 1 else { return nil }
            let (lines, dropped) = capture.lines
            let component =
                lines.isEmpty
                ? context.component("empty", NoticeModel(StyledText("no messages yet", .muted)))
                : context.component("lines", LogModel(lines.map { StyledText($0) }, from: dropped))
            return Scene(context.route, "Messages", [component])
        }
    }

    /// The state of one run.
    private final class Loop {
        private let console: Console
        private let device: TerminalDevice
        private let sink: AsyncStream<Event>.Continuation
        /// The contents of the screen; nil if unknown.
        private var screen: Canvas?
        private var isTakingSnapshot = false
        private var needsSnapshot = false
        /// The act that is being performed.
        private var performing: Task<Void, Never>?

        init(
            _ console: Console,
            _ device: TerminalDevice,
            _ sink: AsyncStream<Event>.Continuation
        ) {
            (self.console, self.device, self.sink) = (console, device, sink)
        }

        func run(
            _ events: AsyncStream<Event>,
            _ options: TerminalConsole.Options
        ) async {
            let palette = TerminalPalette(options)
            let size = device.size
            var session = TerminalSession(
                console.registry,
                await console.snapshot(for: [options.route]),
                palette: palette,
                at: options.route,
                width: size.width,
                height: size.height
            )
            guard await draw(session) else { return }
            // The console is quitting, so no one will see the outcome of a pending act.
            defer { performing?.cancel() }
            for await event in events {
                // The events that are waiting come even to a task that was cancelled.
                guard !Task.isCancelled else { return }
                var effects: [TerminalSession.Effect] = []
                var needsRedraw = true
                switch event {
                case .changed(let taken):
                    taken.send()
                    requestSnapshot(session.routes)
                    needsRedraw = false
                case .snapshot(let snapshot, let registry):
                    isTakingSnapshot = false
                    needsRedraw = session.update(snapshot, registry)
                    if needsSnapshot { requestSnapshot(session.routes) }
                case .done(let outcome): effects = session.done(outcome)
                case .device(.gone): return
                case .device(.stopping): effects = [.suspend]
                case .device(.continued):
                    device.reenter()
                    effects = [.redraw]
                case .device(.resized):
                    needsRedraw = session.resize(width: device.size.width, height: device.size.height)
                case .device(.inputs(let inputs)):
                    var rest = inputs[...]
                    while !rest.isEmpty, !Task.isCancelled { effects += session.handle(&rest) }
                }
                for effect in effects {
                    guard await apply(effect, &session) else { return }
                }
                if needsRedraw { guard await draw(session) else { return } }
            }
        }

        /// Performs a request of the session.
        ///
        /// - Returns: Whether the loop continues.
        private func apply(_ effect: TerminalSession.Effect, _ session: inout TerminalSession) async -> Bool {
            switch effect {
            case .refresh: requestSnapshot(session.routes)
            case .perform(let act):
                performing = Task { [console, sink] in sink.yield(.done(await console.perform(act))) }
            case .copy(let text):
                // The sequence OSC 52 of xterm; terminals that do not know it ignore it.
                return await device.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
            case .redraw: screen = nil
            case .suspend:
                if !device.suspend() { session.message = "not suspended: there is no shell to continue the program" }
            case .quit: return false
            }
            return true
        }

        /// Requests a snapshot; only one is taken at a time.
        private func requestSnapshot(_ routes: [Route]) {
            needsSnapshot = isTakingSnapshot
            guard !isTakingSnapshot else { return }
            isTakingSnapshot = true
            Task { [console, sink] in
                sink.yield(.snapshot(await console.snapshot(for: routes), console.registry))
            }
        }

        private func draw(_ session: TerminalSession) async -> Bool {
            let canvas = session.draw()
            defer { screen = canvas }
            return await device.write(ScreenWriter.difference(from: screen, to: canvas))
        }
    }
}

extension TerminalPalette {
    /// The palette for the environment, which may ask for no colors by NO_COLOR.
    fileprivate init(_ options: TerminalConsole.Options) {
        self.init(
            sheet: options.styles,
            isColoured: (options.environment["NO_COLOR"] ?? "").isEmpty,
            isUnicode: options.environment.isUnicode
        )
    }
}
