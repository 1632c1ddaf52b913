// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole

/// A platform that updates what changed shows the same as one that draws everything.
@Suite
struct SceneChangeTests {
    private func scene(_ rows: [Row], title: String = "") -> Scene {
        var component = Component(id: "c", kind: "table", shape: .table, title: title)
        component.rows = rows
        return Scene(.gates, "", [component])
    }

    @Test func `applying the changes between two scenes turns one into the other`() {
        var numbers = Numbers(state: 7)
        for _ in 0..<2000 {
            var old = scene(numbers.rows)
            let new = scene(numbers.rows, title: numbers.next(3) == 0 ? "other" : "")
            for change in new.changes(from: old) { old.apply(change) }
            #expect(old == new)
        }
    }

    @Test func `equal scenes differ by no change`() {
        #expect(Mock.scene(.gates).changes(from: Mock.scene(.gates)).isEmpty)
    }

    @Test func `one changed row is one change`() {
        let old = scene([Row("a", ["1"]), Row("b", ["2"]), Row("c", ["3"])])
        let new = scene([Row("a", ["1"]), Row("b", ["4"]), Row("c", ["3"])])
        #expect(new.changes(from: old) == [.update(component: 0, row: 1, Row("b", ["4"]))])
    }

    @Test func `a log that scrolls is one removal and one insertion of lines`() {
        let old = scene((0..<500).map { Row("\($0)", ["line"]) })
        let new = scene((2..<502).map { Row("\($0)", ["line"]) })
        #expect(
            new.changes(from: old) == [
                .remove(component: 0, rows: 0..<2),
                .insert(component: 0, at: 498, [Row("500", ["line"]), Row("501", ["line"])]),
            ]
        )
    }

    @Test func `a change of a component besides its rows is one change, and its rows stay`() {
        var old = scene([Row("a", ["1"])])
        let changes: [(inout Component) -> Void] = [
            { $0.title = "t" }, { $0.columns = [.init("c")] }, { $0.series = [.init("s", .good, [1])] },
            { $0.interval = .seconds(60) }, { $0.unit = "ms" }, { $0.state = .loading },
        ]
        for change in changes {
            var new = old
            change(&new.components[0])
            let found = new.changes(from: old)
            #expect(found.count == 1 && new != old)
            for change in found { old.apply(change) }
            #expect(old == new)
        }
    }

    @Test func `a scene of another route replaces everything`() {
        let scene = Mock.scene(.outbox)
        #expect(scene.changes(from: Mock.scene(.gates)) == [.everything(scene)])
    }

    /// The same rows in every run (SplitMix64).
    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: UInt64) -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return (value ^ value >> 31) % bound
        }

        /// Rows with few distinct ids, some of them repeated.
        var rows: [Row] {
            mutating get { (0..<next(7)).map { _ in Row("\(next(6))", [StyledText("\(next(2))")]) } }
        }
    }
}
