// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// Scenes in slots, laid out for a size.
@Suite
struct SceneLayoutTests {
    @Test func `a narrow platform has no side slot, and a wide one has it beside the main slot`() {
        var windows = SceneLayout(width: 80, height: 24)
        _ = windows.mount(Mock.scene(.gates), in: .main)
        #expect(!windows.hasSide)
        #expect(windows.frames[.main] == SceneLayout.Frame(column: 0, line: 1, width: 80, height: 22))
        let hasGrown = windows.resize(width: 200, height: 60)
        #expect(hasGrown)
        #expect(windows.frames[.side] == nil, "nothing is mounted there")
        _ = windows.mount(Mock.scene(.gate("analytics")), in: .side)
        #expect(windows.frames[.main] == SceneLayout.Frame(column: 0, line: 1, width: 110, height: 58))
        #expect(windows.frames[.side] == SceneLayout.Frame(column: 112, line: 1, width: 88, height: 58))
        #expect(windows.frames[.status] == SceneLayout.Frame(column: 0, line: 59, width: 200, height: 1))
        let hasGrownAgain = windows.resize(width: 200, height: 60)
        #expect(!hasGrownAgain)
    }

    @Test func `no slot leaves the platform, however small it is`() {
        for width in [0, 1, 5, 79, 119, 120, 121, 500] {
            for height in 0...10 {
                var windows = SceneLayout(width: width, height: height)
                windows.overlayHeight = 30
                for slot in Slot.allCases { _ = windows.mount(Mock.scene(.gates), in: slot) }
                for frame in windows.frames.values {
                    #expect(frame.column >= 0 && frame.column + frame.width <= max(width, frame.column))
                    #expect(frame.line >= 0 && frame.line + frame.height <= height)
                }
            }
        }
    }

    @Test func `mounting tells whether something changed`() {
        var layout = SceneLayout(width: 80, height: 24)
        let scene = Mock.scene(.gates)
        let isNew = layout.mount(scene, in: .main)
        let isOther = layout.mount(scene, in: .main)
        let isCleared = layout.mount(nil, in: .overlay)
        #expect(isNew && !isOther && !isCleared)
        let isRemoved = layout.mount(nil, in: .main)
        #expect(isRemoved && layout[.main] == nil)
    }
}
