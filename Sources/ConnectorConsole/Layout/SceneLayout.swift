// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Mounts scenes into the slots of a platform, and lays the slots out for its size.
///
/// Sizes are in characters: a terminal's cells, or `ch` in a page.
public struct SceneLayout: Sendable {
    /// The platform's width in characters.
    public private(set) var width: Int
    /// The platform's height in lines.
    public private(set) var height: Int
    /// The height of the overlay with its frame, in lines; set by the platform.
    public var overlayHeight = 0
    private var scenes: [Slot: Scene] = [:]

    /// The minimum width for a side slot, in characters.
    public static let wide = 120

    /// Creates a layout with nothing mounted.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Whether the platform is wide enough for the side slot.
    public var hasSide: Bool { width >= Self.wide }

    /// The width of an overlay in characters.
    public var overlayWidth: Int { min(width, 72) }

    /// The scene mounted in a slot.
    public subscript(slot: Slot) -> Scene? { scenes[slot] }

    /// Mounts a scene, replacing the one in the slot.
    ///
    /// - Parameter scene: Nil to leave the slot empty.
    /// - Returns: Whether the slot's contents changed.
    @discardableResult
    public mutating func mount(_ scene: Scene?, in slot: Slot) -> Bool {
        let old = scenes[slot]
        scenes[slot] = scene
        return old != scene
    }

    /// Changes the size.
    ///
    /// - Returns: Whether the size changed, so that everything must be redrawn.
    public mutating func resize(width: Int, height: Int) -> Bool {
        defer { (self.width, self.height) = (width, height) }
        return (self.width, self.height) != (width, height)
    }

    /// The frames of the slots; slots without room have none.
    public var frames: [Slot: Frame] {
        var frames: [Slot: Frame] = [:]
        let isLow = height < 3
        frames[.navigation] = isLow ? nil : Frame(column: 0, line: 0, width: width, height: 1)
        frames[.status] = isLow ? nil : Frame(column: 0, line: height - 1, width: width, height: 1)
        let lines = isLow ? 0..<height : 1..<(height - 1)
        let half = hasSide && scenes[.side] != nil ? width * 11 / 20 : width
        frames[.main] = Frame(column: 0, line: lines.lowerBound, width: half, height: lines.count)
        if half < width {
            // A separator stands between the two slots.
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

    /// A rectangle of characters.
    public struct Frame: Sendable, Hashable {
        /// The leftmost column, from 0.
        public var column: Int
        /// The top line, from 0.
        public var line: Int
        /// The width in characters.
        public var width: Int
        /// The height in lines.
        public var height: Int

        /// Creates a frame.
        public init(column: Int, line: Int, width: Int, height: Int) {
            self.column = column
            self.line = line
            self.width = max(0, width)
            self.height = max(0, height)
        }

        /// Whether a position lies in the frame.
        public func contains(column: Int, line: Int) -> Bool {
            (self.column..<self.column + width).contains(column) && (self.line..<self.line + height).contains(line)
        }
    }
}
