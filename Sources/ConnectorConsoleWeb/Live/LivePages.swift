// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorControl
internal import ConnectorPlatform

/// The pages that browsers watch, kept up to date.
///
/// Takes one snapshot of the host for all watched pages of a permission, at most four times a second, and none while no page is
/// watched. Each request for a page takes one more.
actor LivePages {
    /// A page as clients with a certain permission see it.
    private struct Key: Hashable {
        var address: PageAddress
        var permission: Permission
    }

    private let console: Console
    private var pages: [Key: LivePage] = [:]
    private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var nextWatcher = 0
    /// The last number given to a version of any page; an evicted page that is requested again thus never repeats a number.
    private var lastVersion = 0
    /// When the watchers were last woken, in nanoseconds of the clock.
    private var woken: UInt64
    private let clock: any HostClock
    /// Distinguishes the versions of this run from those of an earlier run at the same address.
    private let epoch = UInt32.random(in: 0 ... .max)

    /// The minimum time between two snapshots for all pages.
    static let interval: Duration = .milliseconds(250)
    /// The longest silence on a connection. Proxies close quiet ones, only a write reveals that a client is gone, and a page that
    /// hears nothing for three times as long says that the host does not answer.
    static let quiet: Duration = .seconds(5)
    /// The maximum number of pages kept while no browser watches them.
    private static let idleLimit = 64
    /// The maximum number of concurrent watchers.
    static let watcherLimit = 256

    private var registry: ConsoleRegistry { console.registry }

    /// Creates the pages of a console.
    init(_ console: Console, clock: any HostClock = SystemHostClock()) {
        self.console = console
        self.clock = clock
        woken = clock.now()
    }

    /// Keeps the pages up to date until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            // A model may yield only when something changes, so quiet watchers are also woken by time.
            group.addTask {
                while (try? await Task.sleep(for: self.timeUntilQuiet)) != nil { await self.wakeIfQuiet() }
            }
            for await _ in console.changes {
                await update()
                guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
            }
            group.cancelAll()
        }
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }

    /// The newest content of a page for clients with a permission, and the name of its version.
    func content(of address: PageAddress, for permission: Permission) async -> (content: PageContent, version: String) {
        let snapshot = await console.snapshot(for: [address.sceneRoute], permittingActs: permission == .act)
        let content = PageContent(address, registry, snapshot)
        evictIdle()
        // The page number in the content's address is clamped to the last page.
        let key = Key(address: content.address, permission: permission)
        var page = pages[key] ?? LivePage(canAct: permission == .act)
        let isNew = page.update(content, as: newVersion())
        page.used = lastVersion
        pages[key] = page
        // The next update will find nothing new, so it would not wake the watchers.
        if isNew, page.watchers > 0 { wake() }
        return (content, name(of: page.version))
    }

    /// The current scene of a page for clients who may act, with all its rows.
    func scene(at address: PageAddress) async -> Scene {
        let route = address.sceneRoute
        return registry.scene(for: route, of: await console.snapshot(for: [route]))
    }

    // MARK: Watching

    /// Whether another browser may watch a page.
    var hasRoom: Bool { watchers.count < Self.watcherLimit }

    /// Starts watching a page.
    ///
    /// - Returns: A stream that yields when the page may have changed, and the number for ``unwatch(_:as:_:)``; nil if there are
    ///   too many watchers.
    func watch(_ address: PageAddress, as permission: Permission) async -> (changes: AsyncStream<Void>, number: Int)? {
        guard hasRoom else { return nil }
        nextWatcher += 1
        let number = nextWatcher
        let (stream, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers[number] = watcher
        let key = Key(address: address, permission: permission)
        pages[key, default: LivePage(canAct: permission == .act)].watchers += 1
        if pages[key]?.content == nil { _ = await content(of: address, for: permission) }
        watcher.yield()
        return (stream, number)
    }

    /// Stops watching a page.
    func unwatch(_ address: PageAddress, as permission: Permission, _ number: Int) {
        watchers.removeValue(forKey: number)?.finish()
        let key = Key(address: address, permission: permission)
        pages[key]?.watchers -= 1
        pages[key]?.used = lastVersion
    }

    /// The event that brings a browser from a version to the newest one, and the name of that; nil if it already has the newest.
    func frame(
        of address: PageAddress,
        for permission: Permission,
        from version: String
    ) -> (bytes: [UInt8], version: String)? {
        let key = Key(address: address, permission: permission)
        guard var page = pages[key] else { return nil }
        let number = number(of: version) ?? 0
        let bytes = page.frame(from: number, name: name)
        pages[key] = page
        return bytes.map { ($0, name(of: page.version)) }
    }

    /// Updates every watched page, and wakes the watchers if a page changed or they have been quiet for too long.
    func update() async {
        let watched = pages.filter { $0.value.watchers > 0 }.keys
        guard !watched.isEmpty else { return }
        var hasChanged = false
        for (permission, keys) in Dictionary(grouping: watched, by: \.permission) {
            let routes = Array(Set(keys.map(\.address.sceneRoute)))
            let snapshot = await console.snapshot(for: routes, permittingActs: permission == .act)
            for key in keys {
                let content = PageContent(key.address, registry, snapshot)
                hasChanged = pages[key]?.update(content, as: newVersion()) ?? false || hasChanged
            }
        }
        if hasChanged { wake() } else { wakeIfQuiet() }
    }

    /// How long until the watchers have been quiet for too long.
    private var timeUntilQuiet: Duration {
        let (end, now) = (woken.saturatingAdding(Self.quiet.nanoseconds), clock.now())
        return end > now ? .nanoseconds(Int64(clamping: end - now)) : .zero
    }

    private func wakeIfQuiet() {
        if clock.now() >= woken.saturatingAdding(Self.quiet.nanoseconds) { wake() }
    }

    private func wake() {
        woken = clock.now()
        for watcher in watchers.values { watcher.yield() }
    }

    private func newVersion() -> Int {
        lastVersion += 1
        return lastVersion
    }

    private func evictIdle() {
        let idle = pages.filter { $0.value.watchers == 0 }
        guard idle.count >= Self.idleLimit else { return }
        for (key, _) in idle.sorted(by: { $0.value.used < $1.value.used }).prefix(idle.count / 2) { pages[key] = nil }
    }

    private func name(of version: Int) -> String { "\(epoch)-\(version)" }

    private func number(of name: String) -> Int? {
        let parts = name.split(separator: "-")
        guard parts.count == 2, parts[0] == "\(epoch)" else { return nil }
        return Int(parts[1])
    }
}
