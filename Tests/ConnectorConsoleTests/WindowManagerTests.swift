// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// Scenes in slots, laid out for a size.
@Suite
struct WindowManagerTests {
    @Test func `a narrow platform has no side, a wide one has it beside the main slot`() {
        var windows = WindowManager(width: 80, height: 24)
        _ = windows.mount(Mock.scene(.gates), in: .main)
        #expect(!windows.hasSide)
        #expect(windows.frames[.main] == Frame(column: 0, line: 1, width: 80, height: 22))
        let hasGrown = windows.resize(width: 200, height: 60)
        #expect(hasGrown)
        #expect(windows.frames[.side] == nil, "nothing is mounted there")
        _ = windows.mount(Mock.scene(.gate("analytics")), in: .side)
        #expect(windows.frames[.main] == Frame(column: 0, line: 1, width: 110, height: 58))
        #expect(windows.frames[.side] == Frame(column: 112, line: 1, width: 88, height: 58))
        #expect(windows.frames[.status] == Frame(column: 0, line: 59, width: 200, height: 1))
        let hasGrownAgain = windows.resize(width: 200, height: 60)
        #expect(!hasGrownAgain)
    }

    @Test func `no slot leaves the platform, however small it is`() {
        for width in [0, 1, 5, 79, 119, 120, 121, 500] {
            for height in 0...10 {
                var windows = WindowManager(width: width, height: height)
                windows.overlayHeight = 30
                for slot in Slot.allCases { _ = windows.mount(Mock.scene(.gates), in: slot) }
                for frame in windows.frames.values {
                    #expect(frame.column >= 0 && frame.column + frame.width <= max(width, frame.column))
                    #expect(frame.line >= 0 && frame.line + frame.height <= height)
                }
            }
        }
    }

    @Test func `mounting tells what changed`() {
        var windows = WindowManager(width: 80, height: 24)
        let scene = Mock.scene(.gates)
        #expect(windows.mount(scene, in: .main) == [.everything(scene)])
        #expect(windows.mount(scene, in: .main).isEmpty)
        #expect(windows.mount(nil, in: .overlay).isEmpty)
        #expect(!windows.mount(nil, in: .main).isEmpty)
        #expect(windows[.main] == nil)
    }
}
