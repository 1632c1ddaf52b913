// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The last versions of a page for clients with one permission, and the events that bring browsers to the newest version.
///
/// These browsers share the rendered events. Of each browser the server remembers only the version: a slow browser skips
/// versions and receives the difference between its version and the newest.
struct LivePage {
    /// Whether these clients may act.
    let canAct: Bool
    /// The newest version.
    private(set) var version = 0
    /// The number of browsers that watch the page.
    var watchers = 0
    /// When the page was last requested or left, as the number of the newest version of any page at that time.
    var used = 0
    private var versions: [(number: Int, content: PageContent)] = []
    /// The events that bring older versions to the newest, by the number of the older version.
    private(set) var frames: [Int: [UInt8]] = [:]

    /// The maximum number of versions kept.
    private static let limit = 6
    /// The number that stands for versions that are not kept.
    private static let unknown = -1

    /// The newest content; nil before the first update.
    var content: PageContent? { versions.last?.content }

    /// Creates a page without content.
    init(canAct: Bool) {
        self.canAct = canAct
    }

    /// Adds a version, unless the content is unchanged.
    ///
    /// - Parameter number: The number of the version, which no earlier version has, not even one of an evicted page at this address.
    /// - Returns: Whether the content changed.
    mutating func update(_ content: PageContent, as number: Int) -> Bool {
        guard content != self.content else { return false }
        version = number
        versions.append((version, content))
        if versions.count > Self.limit { versions.removeFirst() }
        frames = [:]
        return true
    }

    /// The event that brings a browser from a version to the newest one; nil if it already has the newest.
    ///
    /// - Parameter version: The browser's version; if it is no longer kept, the event contains the whole page.
    mutating func frame(from version: Int, name: (Int) -> String) -> [UInt8]? {
        guard version != self.version, let content else { return nil }
        let old = versions.first { $0.number == version }?.content
        // All versions that are not kept share one event, because a browser may send any number.
        let version = old == nil ? Self.unknown : version
        if let frame = frames[version] { return frame }
        let operations = old.map { PageDifference(from: $0, to: content, canAct: canAct).operations }
        let frame = Self.event(operations ?? everything(content), id: name(self.version))
        frames[version] = frame
        return frame
    }

    private func everything(_ content: PageContent) -> [JSONValue] {
        let view = SceneView(content: content, canAct: canAct)
        var operations: [JSONValue] = [
            ["replace", "readiness", .string(PageView.readiness(content).text)],
            ["replace", "tabs", .string(PageView.navigation(content).text)],
            ["fill", "scene", .string(view.body().text)],
            ["text", "command", .string(content.scene.commandLine ?? "")],
            ["title", .string(content.scene.title)],
        ]
        if content.isSearchable { operations.append(["show", "search"]) }
        if canAct { operations.append(["fill", "scene-acts", .string(PageView.acts(content.scene).text)]) }
        return operations
    }

    private static func event(_ operations: [JSONValue], id: String) -> [UInt8] {
        // The data of an event must not contain line breaks; serialized JSON has none.
        Array("id: \(id)\ndata: ".utf8) + JSONValue.array(operations).utf8() + Array("\n\n".utf8)
    }
}
