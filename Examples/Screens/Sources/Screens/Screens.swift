// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import ConnectorConsoleTerminal
import ConnectorHost
import Notes
import PlainText

/// Shows the scenes of an application as plain text for a pipe; with `--terminal` the same on the screen of the terminal, and with
/// `--host FILE` those of a host beside them.
@main
struct Screens {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let store = NoteStore(["milk": "buy two litres of milk"])
        let file = arguments.firstIndex(of: "--host").flatMap { arguments.dropFirst($0).first }
        let host = try file.map { try ConnectorHost(file: $0) }
        await host?.open()
        var registry = host == nil ? ConsoleRegistry.componentsAlone : .standard
        NoteScenes(store).register(in: &registry)
        let model: any ConsoleModel = host.map { HostConsoleModel($0) } ?? EmptyConsoleModel()
        let route = Route(NoteRoute.list)
        if arguments.contains("--terminal") {
            try await TerminalConsole.run(model, options: TerminalConsole.Options(route: route, registry: registry))
        } else {
            let console = Console(model, registry)
            var session = TextSession(console, at: route)
            for line in await session.show() { print(line) }
            while let line = readLine(), let lines = await session.handle(line) { for line in lines { print(line) } }
        }
        await host?.close()
    }
}
