// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Mounts scenes into the slots of a platform, and lays the slots out for its size.
///
/// A size is in characters: a terminal's own, and a page's width in `ch`.
package struct WindowManager: Sendable {
    /// How many characters the platform is wide.
    package private(set) var width: Int
    /// How many lines it has.
    package private(set) var height: Int
    /// How many lines the overlay takes with its frame, which the platform knows that draws it.
    package var overlayHeight = 0
    private var scenes: [Slot: Scene] = [:]

    /// From this width on there is room for a side.
    package static let wide = 120

    /// Begins with nothing mounted.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Whether a platform of this size has a side.
    package var hasSide: Bool { width >= Self.wide }

    /// How many characters an overlay is wide.
    package var overlayWidth: Int { min(width, 72) }

    /// What is mounted in a slot.
    package subscript(slot: Slot) -> Scene? { scenes[slot] }

    /// Mounts a scene in place of the one that was there.
    ///
    /// - Parameter scene: Nil to leave the slot empty.
    /// - Returns: What the platform has to update in the slot; empty if nothing.
    package mutating func mount(_ scene: Scene?, in slot: Slot) -> [SceneChange] {
        let old = scenes[slot]
        scenes[slot] = scene
        guard let scene else { return old == nil ? [] : [.everything(Scene(Route([]), "", []))] }
        return old.map { scene.changes(from: $0) } ?? [.everything(scene)]
    }

    /// Takes on another size.
    ///
    /// - Returns: Whether it is another one, so that everything must be drawn anew.
    package mutating func resize(width: Int, height: Int) -> Bool {
        defer { (self.width, self.height) = (width, height) }
        return (self.width, self.height) != (width, height)
    }

    /// Where the slots are, those that have no room left out.
    package var frames: [Slot: Frame] {
        var frames: [Slot: Frame] = [:]
        let isLow = height < 3
        frames[.navigation] = isLow ? nil : Frame(column: 0, line: 0, width: width, height: 1)
        frames[.status] = isLow ? nil : Frame(column: 0, line: height - 1, width: width, height: 1)
        let lines = isLow ? 0..<height : 1..<(height - 1)
        let half = hasSide && scenes[.side] != nil ? width * 11 / 20 : width
        frames[.main] = Frame(column: 0, line: lines.lowerBound, width: half, height: lines.count)
        if half < width {
            // A line of its own stands between the two.
            let column = half + 2
            frames[.side] = Frame(
                column: column,
                line: lines.lowerBound,
                width: width - column,
                height: lines.count
            )
        }
        if scenes[.overlay] != nil {
            let lines = min(height, overlayHeight)
            frames[.overlay] = Frame(
                column: (width - overlayWidth) / 2,
                line: (height - lines) / 2,
                width: overlayWidth,
                height: lines
            )
        }
        return frames
    }
}
