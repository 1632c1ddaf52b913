// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorPlatform

/// The pages that consoles look at, kept up to date.
///
/// The host is asked for one snapshot for all of them, at most four times a second, and not at all while no console looks.
actor LivePages {
    private let model: any ConsoleModel
    private let registry: ConsoleRegistry
    private var pages: [PageAddress: LivePage] = [:]
    private var wakers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var nextWaker = 0
    private var tick = 0
    /// Tells the versions of this run from those of an earlier one on the same address.
    private let epoch = UInt32.random(in: 0 ... .max)

    /// The shortest time between two versions.
    static let interval: Duration = .milliseconds(250)
    /// The most pages that are remembered while no console looks at them.
    private static let idleLimit = 64
    /// The most consoles at once.
    static let watcherLimit = 256

    /// Shows what a model says.
    init(_ model: any ConsoleModel, _ registry: ConsoleRegistry) {
        self.model = model
        self.registry = registry
    }

    /// Keeps the pages up to date until the task is cancelled.
    func run() async {
        for await _ in model.changes {
            await update()
            guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
        }
        for waker in wakers.values { waker.finish() }
        wakers = [:]
    }

    /// The newest content of a page, and the name of its version.
    func content(of address: PageAddress) async -> (content: PageContent, version: String) {
        let snapshot = await model.snapshot(for: [address.route])
        let content = PageContent(address, registry, snapshot)
        forgetIdle()
        // A page beyond the last one is the last one.
        var page = pages[content.address] ?? LivePage()
        page.used = tick
        _ = page.update(content)
        pages[content.address] = page
        return (content, name(of: page.version))
    }

    /// A scene as it is now, with all its rows.
    func scene(at route: Route) async -> Scene {
        registry.scene(for: route, of: await model.snapshot(for: [route]))
    }

    // MARK: Watching

    /// Whether another console may look.
    var hasRoom: Bool { wakers.count < Self.watcherLimit }

    /// Begins to look at a page.
    ///
    /// - Returns: Something that arrives when there may be news, and the number to ``leave(_:_:)`` with; nil if too many look.
    func watch(_ address: PageAddress) async -> (news: AsyncStream<Void>, number: Int)? {
        guard hasRoom else { return nil }
        nextWaker += 1
        let number = nextWaker
        let (stream, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wakers[number] = waker
        pages[address, default: LivePage()].watchers += 1
        if pages[address]?.content == nil { _ = await content(of: address) }
        waker.yield()
        return (stream, number)
    }

    /// Stops looking.
    func leave(_ address: PageAddress, _ number: Int) {
        wakers.removeValue(forKey: number)?.finish()
        pages[address]?.watchers -= 1
        pages[address]?.used = tick
    }

    /// The event for a console that has a version, and the version that it has then; nil if it has the newest.
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
        let snapshot = await model.snapshot(for: Array(Set(watched.map(\.route))))
        var isOther = false
        for address in watched {
            isOther = pages[address]?.update(PageContent(address, registry, snapshot)) ?? false || isOther
        }
        guard isOther else { return }
        for waker in wakers.values { waker.yield() }
    }

    private func forgetIdle() {
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
