// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import Synchronization

/// Watches every site: keeps the latest readings, and notices when one leaves its bounds.
public final class SiteWatch: Sendable {
    fileprivate struct State {
        var sites: [SiteState]
        var notices: [Notice] = []
        var noticeCount = 0
        var listeners: [@Sendable () -> Void] = []
    }

    private let server: any SiteServer
    private let store: any BoundsStore
    private let state: Mutex<State>
    /// How many readings of each sensor are kept.
    public static let readingLimit = 120
    /// How many notices are kept.
    private static let noticeLimit = 100

    /// Prepares a watch, which knows nothing until it runs.
    public init(_ server: any SiteServer, _ store: any BoundsStore) {
        self.server = server
        self.store = store
        state = Mutex(State(sites: server.sites.map { SiteState(site: $0) }))
    }

    /// Every site, in order.
    public var sites: [SiteState] { state.withLock(\.sites) }

    /// The site with a name; nil if there is none.
    public func site(_ name: String) -> SiteState? { sites.first { $0.site.name == name } }

    /// What happened, the latest first.
    public var notices: [Notice] { state.withLock(\.notices) }

    /// Calls a closure after each change, on any thread.
    public func onChange(_ changed: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(changed) }
    }

    /// Watches until the task is cancelled, or the server has nothing more to tell.
    public func run() async {
        // Listening begins before the past is read, so that nothing in between is lost.
        let news = server.readings()
        for sensor in server.sites.flatMap(\.sensors) {
            // A gate that is not open has no past. Its readings come with the events, once it is.
            if let past = try? await server.history(of: sensor) { await note(past, of: sensor) }
        }
        for await (sensor, readings) in news { await note(readings, of: sensor) }
    }

    /// Changes the bounds of a sensor at every site, and keeps them.
    public func setBounds(_ bounds: Bounds, of sensor: String) async throws {
        try await store.setBounds(bounds, of: sensor)
        change { state in
            for site in state.sites.indices {
                for measure in state.sites[site].measures.indices
                where state.sites[site].measures[measure].name == sensor {
                    let before = state.sites[site].measures[measure]
                    state.sites[site].measures[measure].bounds = bounds
                    state.notice(before, state.sites[site].measures[measure], at: state.sites[site].site)
                }
            }
        }
    }

    /// Takes in readings of a connector.
    private func note(_ readings: [SensorReading], of sensor: String) async {
        guard let index = server.sites.firstIndex(where: { $0.sensors.contains(sensor) }) else { return }
        var bounds: [String: Bounds] = [:]
        let known = Set(state.withLock { $0.sites[index].measures.map(\.id) })
        for name in Set(readings.map(\.sensor)) where !known.contains("\(sensor) \(name)") {
            bounds[name] = (try? await store.bounds(of: name)) ?? Bounds.usual[name] ?? Bounds()
        }
        change { [bounds] state in
            for reading in readings { state.note(reading, of: sensor, at: index, bounds) }
            state.notices = Array(state.notices.prefix(Self.noticeLimit))
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let listeners = state.withLock { state in
            body(&state)
            return state.listeners
        }
        for listener in listeners { listener() }
    }
}

extension SiteWatch.State {
    /// Takes in a reading, unless it is older than the latest known one.
    fileprivate mutating func note(
        _ reading: SensorReading,
        of sensor: String,
        at site: Int,
        _ bounds: [String: Bounds]
    ) {
        let id = "\(sensor) \(reading.sensor)"
        let measure: Int
        if let known = sites[site].measures.firstIndex(where: { $0.id == id }) {
            measure = known
        } else {
            measure = sites[site].measures.count
            sites[site].measures.append(
                Measure(id: id, name: reading.sensor, bounds: bounds[reading.sensor] ?? Bounds())
            )
        }
        let before = sites[site].measures[measure]
        guard before.latest.map({ $0.time < reading.time }) ?? true else { return }
        sites[site].measures[measure].readings.append(reading)
        let surplus = sites[site].measures[measure].readings.count - SiteWatch.readingLimit
        if surplus > 0 { sites[site].measures[measure].readings.removeFirst(surplus) }
        notice(before, sites[site].measures[measure], at: sites[site].site)
    }

    /// Notes that a measure has left its bounds, or is back.
    fileprivate mutating func notice(_ before: Measure, _ after: Measure, at site: Site) {
        // A reading that is not good says nothing about bounds.
        guard let latest = after.latest, latest.quality == .good, before.isOutside != after.isOutside else { return }
        noticeCount += 1
        let text = "\(after.name) \(after.text) is \(after.isOutside ? "not" : "again") \(after.bounds)"
        let notice = Notice(id: noticeCount, time: latest.time, site: site.name, text: text, isOutside: after.isOutside)
        notices.insert(notice, at: 0)
    }
}
