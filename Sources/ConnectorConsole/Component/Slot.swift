// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place where scenes are mounted: a part of a platform's screen, or a component of a scene.
public struct Slot: Sendable, Hashable {
    /// The name, unique among the slots of the platform or the scene.
    public let name: String
    /// How it shows the scenes that are mounted in it.
    public let arrangement: Arrangement

    /// Creates a slot.
    public init(_ name: String, _ arrangement: Arrangement = .nested) {
        self.name = name
        self.arrangement = arrangement
    }

    /// A way to show the scenes of a slot.
    public struct Arrangement: Sendable, Hashable {
        /// The name.
        public let name: String

        /// Every scene, one below the other.
        public static let nested = Arrangement(name: "nested")
        /// The last scene, with links to those below it.
        public static let stack = Arrangement(name: "stack")
        /// The selected scene, with links to the others.
        public static let tabs = Arrangement(name: "tabs")
        /// No scene; the data of its scenes stay current for when the slot is shown.
        public static let hidden = Arrangement(name: "hidden")
    }

    /// A scene to mount in a slot.
    public struct Entry: Sendable, Hashable {
        /// Its title in tabs and stacks.
        public var title: String
        /// The route whose scene is mounted.
        public var route: Route
        /// The route that selects it, such as a route of the scene that has the slot.
        public var link: Route

        /// Creates an entry.
        ///
        /// - Parameter link: The route that selects it; nil for the route of the mounted scene.
        public init(_ title: String, _ route: Route, link: Route? = nil) {
            self.title = title
            self.route = route
            self.link = link ?? route
        }
    }
}

/// The slots of a platform.
extension Slot: CaseIterable {
    /// The tabs.
    public static let navigation = Slot("navigation", .tabs)
    /// The scene of the current route.
    public static let main = Slot("main", .stack)
    /// The scene that the selected row links to, on wide screens.
    public static let side = Slot("side")
    /// The last line: messages and keys.
    public static let status = Slot("status")
    /// A dialog in front of everything else.
    public static let overlay = Slot("overlay")

    /// Every slot of a platform.
    public static let allCases = [navigation, main, side, status, overlay]
}

/// A slot with the scenes to mount in it.
struct MountedSlot: Sendable, Hashable {
    /// The slot.
    var slot: Slot
    /// The scenes.
    var entries: [Slot.Entry]
    /// The index of the scene that tabs show.
    var selected: Int
}
