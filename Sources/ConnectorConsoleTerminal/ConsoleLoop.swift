// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorHost
internal import ConnectorManifest

/// Carries what happens to the session, and what the session wants to the terminal and the host.
enum ConsoleLoop {
    /// Something that happens.
    private enum Occasion: Sendable {
        case device(TerminalDevice.Occasion)
        case changed
        case snapshot(ConsoleSnapshot)
        case done(String)
    }

    /// The shortest time between two snapshots that nobody asked for with a key.
    private static let interval: Duration = .milliseconds(100)

    /// Shows a model until somebody quits, or the task is cancelled.
    static func run(_ model: any ConsoleModel, _ options: TerminalConsole.Options) async throws(ConnectorError) {
        try checkTerminal(options)
        guard let capture = MessageCapture() else {
            throw ConnectorError(.unavailable, "the process can have no more descriptors")
        }
        let (occasions, happening) = AsyncStream.makeStream(of: Occasion.self)
        let device: TerminalDevice
        do throws(ConnectorError) {
            device = try TerminalDevice(messages: capture.writing) { happening.yield(.device($0)) }
        } catch {
            capture.stop()
            throw error
        }
        _ = capture.start { happening.yield(.changed) }
        let changing = Task {
            for await _ in model.changes {
                happening.yield(.changed)
                try? await Task.sleep(for: interval)
            }
        }
        var registry = options.registry
        registry.register(messages(capture))
        let loop = Loop(model, device, happening)
        await loop.run(occasions, registry, options)
        changing.cancel()
        await device.stop()
        capture.stop()
    }

    /// Whether the terminal has what the screen needs.
    private static func checkTerminal(_ options: TerminalConsole.Options) throws(ConnectorError) {
        let kind = options.environment["TERM"] ?? ""
        guard !kind.isEmpty, kind != "dumb" else {
            throw ConnectorError(.unsupported, "the terminal has no cursor that can be moved: TERM is \"\(kind)\"")
        }
    }

    /// What the process prints, as a scene of the terminal's own.
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
        private let happening: AsyncStream<Occasion>.Continuation
        /// What is on the screen; nil if nobody knows.
        private var screen: Canvas?
        private var isLooking = false
        private var mustLookAgain = false
        /// What the host does at the moment.
        private var performing: Task<Void, Never>?

        init(
            _ model: any ConsoleModel,
            _ device: TerminalDevice,
            _ happening: AsyncStream<Occasion>.Continuation
        ) {
            (self.model, self.device, self.happening) = (model, device, happening)
        }

        func run(
            _ occasions: AsyncStream<Occasion>,
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
            // A call that nobody sees the end of is not waited for.
            defer { performing?.cancel() }
            for await occasion in occasions {
                var effects: [TerminalSession.Effect] = []
                var isOther = true
                switch occasion {
                case .changed:
                    look(session.routes)
                    isOther = false
                case .snapshot(let snapshot):
                    isLooking = false
                    isOther = session.update(snapshot)
                    if mustLookAgain { look(session.routes) }
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

        /// Does what the session cannot.
        ///
        /// - Returns: Whether to go on.
        private func apply(_ effect: TerminalSession.Effect, _ routes: [Route]) async -> Bool {
            switch effect {
            case .refresh: look(routes)
            case .perform(let act):
                performing = Task { [model, happening] in happening.yield(.done(await model.perform(act))) }
            case .copy(let text):
                // OSC 52 of xterm; terminals that do not know it ignore it.
                return await device.write(Array("\u{1B}]52;c;\(Base64.encode(Array(text.utf8)))\u{1B}\\".utf8))
            case .redraw: screen = nil
            case .suspend: device.suspend()
            case .quit: return false
            }
            return true
        }

        /// Asks for a snapshot, one at a time.
        private func look(_ routes: [Route]) {
            mustLookAgain = isLooking
            guard !isLooking else { return }
            isLooking = true
            Task { [model, happening] in happening.yield(.snapshot(await model.snapshot(for: routes))) }
        }

        private func draw(_ session: TerminalSession) async -> Bool {
            let canvas = session.draw()
            defer { screen = canvas }
            return await device.write(ScreenWriter.difference(from: screen, to: canvas))
        }
    }
}

extension TerminalPalette {
    /// What the variables say of the terminal: NO_COLOR, and a locale in UTF-8, found as setlocale(3) finds it.
    fileprivate init(_ options: TerminalConsole.Options) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { options.environment[$0] }.first { !$0.isEmpty }
        self.init(
            sheet: options.styles,
            isColoured: (options.environment["NO_COLOR"] ?? "").isEmpty,
            isUnicode: (locale ?? "").lowercased().filter { $0 != "-" }.contains("utf8")
        )
    }
}
