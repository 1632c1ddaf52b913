// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The last versions of the page of one address, and what the consoles that look at it have to be told.
///
/// Consoles at one address share what is rendered. Each keeps no more than the number of the version it has: one that is slow skips
/// versions, and gets what leads from its own to the newest.
struct LivePage {
    /// The newest version.
    private(set) var version = 0
    /// How many consoles look at it.
    var watchers = 0
    /// When a console last asked for it, in the ticks of ``LivePages``.
    var used = 0
    private var versions: [(number: Int, content: PageContent)] = []
    private var frames: [Frame: [UInt8]] = [:]

    /// What leads from one version to the newest.
    private struct Frame: Hashable {
        var from: Int
        var canAct: Bool
    }

    /// The most versions that are kept.
    private static let limit = 6

    /// The newest content; nil before the first.
    var content: PageContent? { versions.last?.content }

    /// Takes on what the page shows now.
    ///
    /// - Returns: Whether it is another than before.
    mutating func update(_ content: PageContent) -> Bool {
        guard content != self.content else { return false }
        version += 1
        versions.append((version, content))
        if versions.count > Self.limit { versions.removeFirst() }
        frames = [:]
        return true
    }

    /// The event that leads from a version to the newest one; nil if a console has that.
    ///
    /// - Parameter version: A version; one that is not known any more gets the whole page.
    mutating func frame(from version: Int, canAct: Bool, name: (Int) -> String) -> [UInt8]? {
        guard version != self.version, let content else { return nil }
        let key = Frame(from: version, canAct: canAct)
        if let frame = frames[key] { return frame }
        let known = versions.first { $0.number == version }?.content
        let operations = known.map { PageDifference(from: $0, to: content, canAct: canAct).operations }
        let frame = Self.event(operations ?? Self.everything(content, canAct: canAct), id: name(self.version))
        frames[key] = frame
        return frame
    }

    private static func everything(_ content: PageContent, canAct: Bool) -> [JSONValue] {
        let view = SceneView(content: content, canAct: canAct)
        var operations: [JSONValue] = [
            ["replace", "verdict", .string(PageView.verdict(content).text)],
            ["fill", "scene", .string(view.body().text)],
        ]
        if canAct { operations.append(["fill", "scene-acts", .string(PageView.acts(content.scene).text)]) }
        return operations
    }

    private static func event(_ operations: [JSONValue], id: String) -> [UInt8] {
        // JSON has no line breaks outside of strings, and escapes those within.
        Array("id: \(id)\ndata: ".utf8) + JSONValue.array(operations).utf8() + Array("\n\n".utf8)
    }
}
