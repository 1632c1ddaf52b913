// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorControl
import ConnectorPlatform
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb

/// Pages that browsers watch, without a server.
@Suite(.timeLimit(.minutes(1))) struct LivePagesTests {
    private let sites = Sites()
    private let clock = ManualHostClock()
    private let address = PageAddress(Route(Sites.Place.list))

    private func pages() -> LivePages { LivePages(Console(registry: sites.registry()), clock: clock) }

    @Test func `a browser whose page was dropped meanwhile gets the whole page`() async throws {
        let pages = pages()
        let old = await pages.content(of: address, for: .act).version
        for number in 0..<70 { _ = await pages.content(of: PageAddress(address.route, search: "\(number)"), for: .act) }
        sites.add("kiel", 20)
        let watch = try #require(await pages.watch(address, as: .act))
        let frame = try #require(await pages.frame(of: address, for: .act, from: old))
        #expect(String(decoding: frame.bytes, as: UTF8.self).contains("[\"fill\",\"scene\","))
        #expect(frame.version != old)
        await pages.unwatch(address, as: .act, watch.number)
    }

    @Test func `a request that finds a change wakes the browsers that watch the page`() async throws {
        let pages = pages()
        let watch = try #require(await pages.watch(address, as: .act))
        var wakes = watch.changes.makeAsyncIterator()
        await wakes.next()
        sites.add("kiel", 20)
        _ = await pages.content(of: address, for: .act)
        await pages.unwatch(address, as: .act, watch.number)
        let wake: Void? = await wakes.next()
        #expect(wake != nil)
    }

    @Test func `a page waits for three events of a quiet host before it says that the host does not answer`() throws {
        let script = String(decoding: PackageResources.console_js, as: UTF8.self)
        let patience = try #require(script.firstMatch(of: #/const patience = (\d+);/#)).1
        #expect(Int(patience).map { Duration.milliseconds($0) } == LivePages.quiet * 3)
    }

    @Test(arguments: [(LivePages.quiet - .nanoseconds(1), false), (LivePages.quiet, true)])
    func `browsers that watch an unchanged page are woken at intervals, without news`(after: Duration, isWoken: Bool)
        async throws
    {
        let pages = pages()
        let watch = try #require(await pages.watch(address, as: .act))
        let version = await pages.content(of: address, for: .act).version
        var wakes = watch.changes.makeAsyncIterator()
        await wakes.next()
        clock.advance(by: after)
        await pages.update()
        #expect(await pages.frame(of: address, for: .act, from: version) == nil)
        await pages.unwatch(address, as: .act, watch.number)
        let wake: Void? = await wakes.next()
        #expect((wake != nil) == isWoken)
    }
}
