// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// The event loop: passes events to the session, and performs its requests on the terminal and the host.
enum ConsoleLoop {
    /// An event for the session.
    private enum Event: Sendable {
        case device(TerminalDevice.Event)
        case changed
        case snapshot(ConsoleSnapshot, ConsoleRegistry)
        case done(ActOutcome)
    }

    /// The minimum time between two snapshots, other than those that a key requested.
    private static let interval: Duration = .milliseconds(100)

    /// Shows a model until the operator quits or the task is cancelled.
    static func run(_ model: any ConsoleModel, _ options: TerminalConsole.Options) async throws(ConnectorError) {
        try checkTerminal(options)
        guard let capture = MessageCapture() else {
            throw ConnectorError(.unavailable, "the process is out of file descriptors")
        }
        let (events, sink) = AsyncStream.makeStream(of: Event.self)
        let device: TerminalDevice
        do throws(ConnectorError) {
            device = try TerminalDevice(messages: capture.writing) { sink.yield(.device($0)) }
        } catch {
            capture.stop()
            throw error
        }
        _ = capture.start { sink.yield(.changed) }
        var registry = options.registry
        registry.register(messages(capture))
        let console = Console(model, registry)
        let following = Task { await console.run() }
        let changing = Task {
            for await _ in console.changes {
                sink.yield(.changed)
                try? await Task.sleep(for: interval)
            }
        }
        let loop = Loop(console, device, sink)
        await loop.run(events, options)
        changing.cancel()
        following.cancel()
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

    /// The scene with the output of the process; other platforms have none.
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
            // The console is quitting: no one will see the result of a pending action.
            defer { performing?.cancel() }
            for await event in events {
                var effects: [TerminalSession.Effect] = []
                var needsRedraw = true
                switch event {
                case .changed:
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
                case .device(.inputs(let inputs)): effects = inputs.flatMap { session.handle($0) }
                }
                for effect in effects {
                    guard await apply(effect, session.routes) else { return }
                }
                if needsRedraw { guard await draw(session) else { return } }
            }
        }

        /// Performs a request of the session.
        ///
        /// - Returns: Whether the loop continues.
        private func apply(_ effect: TerminalSession.Effect, _ routes: [Route]) async -> Bool {
            switch effect {
            case .refresh: requestSnapshot(routes)
            case .perform(let act):
                performing = Task { [console, sink] in sink.yield(.done(await console.perform(act))) }
            case .copy(let text):
                // OSC 52 of xterm; other terminals ignore it.
                return await device.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
            case .redraw: screen = nil
            case .suspend: device.suspend()
            case .quit: return false
            }
            return true
        }

        /// Requests a snapshot, one at a time.
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
    /// The palette for the environment: NO_COLOR, and whether the locale is UTF-8, by the precedence of setlocale(3).
    fileprivate init(_ options: TerminalConsole.Options) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { options.environment[$0] }.first { !$0.isEmpty }
        self.init(
            sheet: options.styles,
            isColoured: (options.environment["NO_COLOR"] ?? "").isEmpty,
            isUnicode: (locale ?? "").lowercased().filter { $0 != "-" }.contains("utf8")
        )
    }
}
