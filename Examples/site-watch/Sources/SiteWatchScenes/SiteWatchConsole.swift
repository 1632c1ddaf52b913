// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole
public import ConnectorHost
public import SiteWatchModel

/// What the console shows: the host, and the watch, which draws as soon as something was measured.
public struct SiteWatchConsole: ConsoleModel {
    private let host: HostConsoleModel
    private let watch: SiteWatch
    private let store: PictureStore
    private let pictures = Pictures()

    /// Shows a watch over a host.
    public init(_ host: ConnectorHost, _ watch: SiteWatch, _ store: PictureStore) {
        self.host = HostConsoleModel(host)
        self.watch = watch
        self.store = store
    }

    /// The scenes of the host, and those of the watch.
    public var registry: ConsoleRegistry {
        var registry = ConsoleRegistry.standard
        let (sites, site) = (SitesScene(watch: watch), SiteScene(watch: watch, pictures: pictures))
        registry.register(
            SceneDescriptor(SiteRoute.self, title: "Sites") { place, context in
                switch place {
                case .list: sites.scene(context)
                case .site(let name): site.scene(name, context)
                }
            }
        )
        return registry
    }

    /// The scenes of plugins, which have tabs of their own.
    public var scenes: [SceneDescriptor] { host.scenes }

    /// Yields after each change of the host and of the watch.
    public var changes: AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watch.onChange { continuation.yield() }
        let following = Task { [host] in
            for await _ in host.changes { continuation.yield() }
            continuation.finish()
        }
        continuation.onTermination = { _ in following.cancel() }
        return changes
    }

    /// Follows the host, and watches.
    public func run() async {
        async let following: Void = host.run()
        async let watching: Void = watch.run()
        _ = await (following, watching)
    }

    /// The state of the host, once the pictures of the visible sites are known.
    public func snapshot(for routes: [Route]) async -> ConsoleSnapshot {
        let shown = routes.compactMap { route -> String? in
            if case .site(let name)? = route.value(as: SiteRoute.self) { name } else { nil }
        }
        await pictures.load(shown, from: store)
        return await host.snapshot(for: routes)
    }

    /// Passes an act on to the host.
    public func perform(_ act: ConsoleAct) async -> ActOutcome { await host.perform(act) }
}
