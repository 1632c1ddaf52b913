// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import ConnectorConsoleTerminal
import ConnectorConsoleWeb
import ConnectorHost
import SiteWatchModel
import SiteWatchScenes

/// Watches the sites: in the terminal, with `--web` on a page, with `--notices N` as lines, until N have come.
///
/// With `--simulate`, the remote sensors are made up: batteries fall, temperatures rise, an alarm goes away.
@main
struct SiteWatchApp {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let host = try arguments.contains("--simulate") ? SiteWatchHost.simulated() : SiteWatchHost.real()
        try await host.open().requireReady()
        let watch = SiteWatch(HostSites(host), SettingsBounds(try host.settings("preferences")))
        let console = SiteWatchConsole(host, watch, PictureStore(try host.files("pictures")))
        let route = Route(SiteRoute.list)
        if let option = arguments.firstIndex(of: "--notices"), option + 1 < arguments.count {
            await printNotices(of: watch, count: Int(arguments[option + 1]) ?? 1)
        } else if arguments.contains("--web") {
            var options = WebConsole.Options()
            (options.route, options.registry, options.title) = (route, console.registry, "Site watch")
            try await WebConsole.run(console, options: options) { link in print("console:", link) }
        } else {
            let options = TerminalConsole.Options(route: route, registry: console.registry)
            try await TerminalConsole.run(console, options: options)
        }
        await host.close()
    }

    /// Prints each notice as a line.
    private static func printNotices(of watch: SiteWatch, count: Int) async {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watch.onChange { continuation.yield() }
        let watching = Task { await watch.run() }
        defer { watching.cancel() }
        var printed = 0
        for await _ in changes {
            for notice in watch.notices.reversed() where notice.id > printed {
                print("\(notice.site): \(notice.text)")
                printed = notice.id
                if printed >= count { return }
            }
        }
    }
}
