// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorPlatform

/// The pages that browsers watch, kept up to date.
///
/// Takes one snapshot of the host for all pages, at most four times a second, and none while no page is watched.
actor LivePages {
    private let console: Console
    private var pages: [PageAddress: LivePage] = [:]
    private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var nextWatcher = 0
    private var tick = 0
    /// Distinguishes the versions of this run from those of an earlier one on the same address.
    private let epoch = UInt32.random(in: 0 ... .max)

    /// The minimum time between two versions.
    static let interval: Duration = .milliseconds(250)
    /// The maximum number of pages kept while no browser watches them.
    private static let idleLimit = 64
    /// The maximum number of concurrent watchers.
    static let watcherLimit = 256

    private var registry: ConsoleRegistry { console.registry }

    /// Creates the pages of a console.
    init(_ console: Console) {
        self.console = console
    }

    /// Keeps the pages up to date until the task is cancelled.
    func run() async {
        for await _ in console.changes {
            await update()
            guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
        }
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }

    /// The newest content of a page, and the name of its version.
    func content(of address: PageAddress) async -> (content: PageContent, version: String) {
        let snapshot = await console.snapshot(for: [address.route])
        let content = PageContent(address, registry, snapshot)
        evictIdle()
        // The content's address is clamped to the last page.
        var page = pages[content.address] ?? LivePage()
        page.used = tick
        _ = page.update(content)
        pages[content.address] = page
        return (content, name(of: page.version))
    }

    /// The current scene at a route, with all its rows.
    func scene(at route: Route) async -> Scene {
        registry.scene(for: route, of: await console.snapshot(for: [route]))
    }

    // MARK: Watching

    /// Whether another browser may watch a page.
    var hasRoom: Bool { watchers.count < Self.watcherLimit }

    /// Starts watching a page.
    ///
    /// - Returns: A stream that yields when the page may have changed, and the number for ``unwatch(_:_:)``; nil if there are too
    ///   many watchers.
    func watch(_ address: PageAddress) async -> (changes: AsyncStream<Void>, number: Int)? {
        guard hasRoom else { return nil }
        nextWatcher += 1
        let number = nextWatcher
        let (stream, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers[number] = watcher
        pages[address, default: LivePage()].watchers += 1
        if pages[address]?.content == nil { _ = await content(of: address) }
        watcher.yield()
        return (stream, number)
    }

    /// Stops watching a page.
    func unwatch(_ address: PageAddress, _ number: Int) {
        watchers.removeValue(forKey: number)?.finish()
        pages[address]?.watchers -= 1
        pages[address]?.used = tick
    }

    /// The event that updates a browser from a version, and the resulting version; nil if it already has the newest.
    func frame(of address: PageAddress, from version: String, canAct: Bool) -> (bytes: [UInt8], version: String)? {
        guard var page = pages[address] else { return nil }
        let number = number(of: version) ?? 0
        let bytes = page.frame(from: number, canAct: canAct, name: name)
        pages[address] = page
        return bytes.map { ($0, name(of: page.version)) }
    }

    private func update() async {
        tick += 1
        let watched = pages.filter { $0.value.watchers > 0 }.keys
        guard !watched.isEmpty else { return }
        let snapshot = await console.snapshot(for: Array(Set(watched.map(\.route))))
        var hasChanged = false
        let registry = registry
        for address in watched {
            hasChanged = pages[address]?.update(PageContent(address, registry, snapshot)) ?? false || hasChanged
        }
        guard hasChanged else { return }
        for watcher in watchers.values { watcher.yield() }
    }

    private func evictIdle() {
        let idle = pages.filter { $0.value.watchers == 0 }
        guard idle.count >= Self.idleLimit else { return }
        for (address, _) in idle.sorted(by: { $0.value.used < $1.value.used }).prefix(idle.count / 2) {
            pages[address] = nil
        }
    }

    private func name(of version: Int) -> String { "\(epoch)-\(version)" }

    private func number(of name: String) -> Int? {
        let parts = name.split(separator: "-")
        guard parts.count == 2, parts[0] == "\(epoch)" else { return nil }
        return Int(parts[1])
    }
}
