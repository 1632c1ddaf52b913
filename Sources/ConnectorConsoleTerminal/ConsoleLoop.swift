// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// Passes events to the session, and the session's requests to the terminal and the host.
enum ConsoleLoop {
    /// An event for the session.
    private enum Event: Sendable {
        case device(TerminalDevice.Event)
        case changed
        case snapshot(ConsoleSnapshot)
        case done(String)
    }

    /// The shortest time between two snapshots that no key requested.
    private static let interval: Duration = .milliseconds(100)

    /// Shows a model until the operator quits or the task is cancelled.
    static func run(_ model: any ConsoleModel, _ options: TerminalConsole.Options) async throws(ConnectorError) {
        try checkTerminal(options)
        guard let capture = MessageCapture() else {
            throw ConnectorError(.unavailable, "the process has no free file descriptors")
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
        let changing = Task {
            for await _ in model.changes {
                sink.yield(.changed)
                try? await Task.sleep(for: interval)
            }
        }
        var registry = options.registry
        registry.register(messages(capture))
        let loop = Loop(model, device, sink)
        await loop.run(events, registry, options)
        changing.cancel()
        await device.stop()
        capture.stop()
    }

    /// Checks that the terminal has what the screen needs.
    private static func checkTerminal(_ options: TerminalConsole.Options) throws(ConnectorError) {
        let kind = options.environment["TERM"] ?? ""
        guard !kind.isEmpty, kind != "dumb" else {
            throw ConnectorError(.unsupported, "the terminal cannot move its cursor: TERM is \"\(kind)\"")
        }
    }

    /// The output of the process, as a scene that only the terminal has.
    private static func messages(_ capture: MessageCapture) -> SceneDescriptor {
        SceneDescriptor("messages", title: "Messages") { context in
            guard context.route.parts.count == 1 else { return nil }
            let (lines, forgotten) = capture.lines
            let component =
                lines.isEmpty
                ? context.component("empty", NoticeModel(StyledText("no messages yet", .muted)))
                : context.component("lines", LogModel(lines.map { StyledText($0) }, from: forgotten))
            return Scene(context.route, "Messages", [component])
        }
    }

    /// The state of one run.
    private final class Loop {
        private let model: any ConsoleModel
        private let device: TerminalDevice
        private let sink: AsyncStream<Event>.Continuation
        /// The contents of the screen; nil if unknown.
        private var screen: Canvas?
        private var isTakingSnapshot = false
        private var needsSnapshot = false
        /// The actions that the host is performing.
        private var performing: Task<Void, Never>?

        init(
            _ model: any ConsoleModel,
            _ device: TerminalDevice,
            _ sink: AsyncStream<Event>.Continuation
        ) {
            (self.model, self.device, self.sink) = (model, device, sink)
        }

        func run(
            _ events: AsyncStream<Event>,
            _ registry: ConsoleRegistry,
            _ options: TerminalConsole.Options
        ) async {
            let palette = TerminalPalette(options)
            let size = device.size
            var session = TerminalSession(
                registry,
                await model.snapshot(for: [options.route]),
                palette: palette,
                at: options.route,
                width: size.width,
                height: size.height
            )
            guard await draw(session) else { return }
            // Do not wait for calls whose end no one will see.
            defer { performing?.cancel() }
            for await event in events {
                var effects: [TerminalSession.Effect] = []
                var isOther = true
                switch event {
                case .changed:
                    look(session.routes)
                    isOther = false
                case .snapshot(let snapshot):
                    isTakingSnapshot = false
                    isOther = session.update(snapshot)
                    if needsSnapshot { look(session.routes) }
                case .done(let sentence): effects = session.done(sentence)
                case .device(.gone): return
                case .device(.stopping): effects = [.suspend]
                case .device(.continued):
                    device.takeAgain()
                    effects = [.redraw]
                case .device(.resized):
                    isOther = session.resize(width: device.size.width, height: device.size.height)
                case .device(.inputs(let inputs)): effects = inputs.flatMap { session.handle($0) }
                }
                for effect in effects {
                    guard await apply(effect, session.routes) else { return }
                }
                if isOther { guard await draw(session) else { return } }
            }
        }

        /// Performs a request of the session.
        ///
        /// - Returns: Whether the loop continues.
        private func apply(_ effect: TerminalSession.Effect, _ routes: [Route]) async -> Bool {
            switch effect {
            case .refresh: look(routes)
            case .perform(let act):
                performing = Task { [model, sink] in sink.yield(.done(await model.perform(act))) }
            case .copy(let text):
                // OSC 52 of xterm; terminals without it ignore it.
                return await device.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
            case .redraw: screen = nil
            case .suspend: device.suspend()
            case .quit: return false
            }
            return true
        }

        /// Requests a snapshot, one at a time.
        private func look(_ routes: [Route]) {
            needsSnapshot = isTakingSnapshot
            guard !isTakingSnapshot else { return }
            isTakingSnapshot = true
            Task { [model, sink] in sink.yield(.snapshot(await model.snapshot(for: routes))) }
        }

        private func draw(_ session: TerminalSession) async -> Bool {
            let canvas = session.draw()
            defer { screen = canvas }
            return await device.write(ScreenWriter.difference(from: screen, to: canvas))
        }
    }
}

extension TerminalPalette {
    /// The palette that the environment asks for: NO_COLOR, and a UTF-8 locale, found as setlocale(3) finds it.
    fileprivate init(_ options: TerminalConsole.Options) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { options.environment[$0] }.first { !$0.isEmpty }
        self.init(
            sheet: options.styles,
            isColoured: (options.environment["NO_COLOR"] ?? "").isEmpty,
            isUnicode: (locale ?? "").lowercased().filter { $0 != "-" }.contains("utf8")
        )
    }
}
