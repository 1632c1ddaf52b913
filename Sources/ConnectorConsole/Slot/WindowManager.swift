// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Mounts scenes into the slots of a platform, and lays the slots out for its size.
///
/// Sizes are in characters: a terminal's cells, or `ch` in a page.
package struct WindowManager: Sendable {
    /// The platform's width in characters.
    package private(set) var width: Int
    /// The platform's height in lines.
    package private(set) var height: Int
    /// The height of the overlay with its frame, in lines; set by the platform.
    package var overlayHeight = 0
    private var scenes: [Slot: Scene] = [:]

    /// The minimum width for a side slot, in characters.
    package static let wide = 120

    /// Creates a window manager with nothing mounted.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Whether the platform is wide enough for the side slot.
    package var hasSide: Bool { width >= Self.wide }

    /// The width of an overlay in characters.
    package var overlayWidth: Int { min(width, 72) }

    /// The scene mounted in a slot.
    package subscript(slot: Slot) -> Scene? { scenes[slot] }

    /// Mounts a scene, replacing the one in the slot.
    ///
    /// - Parameter scene: Nil to leave the slot empty.
    /// - Returns: The changes for the platform to draw; empty if there are none.
    package mutating func mount(_ scene: Scene?, in slot: Slot) -> [SceneChange] {
        let old = scenes[slot]
        scenes[slot] = scene
        guard let scene else { return old == nil ? [] : [.everything(Scene(Route([]), "", []))] }
        return old.map { scene.changes(from: $0) } ?? [.everything(scene)]
    }

    /// Changes the size.
    ///
    /// - Returns: Whether the size changed, so that everything must be redrawn.
    package mutating func resize(width: Int, height: Int) -> Bool {
        defer { (self.width, self.height) = (width, height) }
        return (self.width, self.height) != (width, height)
    }

    /// The frames of the slots; slots without room have none.
    package var frames: [Slot: Frame] {
        var frames: [Slot: Frame] = [:]
        let isLow = height < 3
        frames[.navigation] = isLow ? nil : Frame(column: 0, line: 0, width: width, height: 1)
        frames[.status] = isLow ? nil : Frame(column: 0, line: height - 1, width: width, height: 1)
        let lines = isLow ? 0..<height : 1..<(height - 1)
        let half = hasSide && scenes[.side] != nil ? width * 11 / 20 : width
        frames[.main] = Frame(column: 0, line: lines.lowerBound, width: half, height: lines.count)
        if half < width {
            // A separator lies between the two.
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
