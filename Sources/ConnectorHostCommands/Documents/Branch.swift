// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

/// A connector's position in the printed tree.
struct Branch {
    /// The connector's report.
    var gate: GateReport
    /// Whether the branch is the last child of its parent, for each level from the root to the connector.
    var isLast: [Bool]
    /// Whether the connector has children.
    var hasChildren: Bool

    /// The last part of the path.
    var name: String {
        gate.path.lastIndex(of: "/").map { String(gate.path[gate.path.index(after: $0)...]) } ?? gate.path
    }

    /// The prefix that draws the tree before the connector; empty at the root.
    func guide(_ style: TextStyle) -> String {
        guard isLast.count > 1, let own = isLast.last else { return "" }
        let corner = style.isUnicode ? (own ? "└─ " : "├─ ") : (own ? "`- " : "|- ")
        return Self.bars(isLast.dropFirst().dropLast(), style) + corner
    }

    /// The prefix that draws the tree before notes below the connector.
    func continuation(_ style: TextStyle) -> String {
        Self.bars(isLast.dropFirst(), style) + (hasChildren ? (style.isUnicode ? "│" : "|") : " ")
    }

    private static func bars(_ levels: some Collection<Bool>, _ style: TextStyle) -> String {
        levels.map { $0 ? "   " : (style.isUnicode ? "│  " : "|  ") }.joined()
    }

    /// A branch for every connector of a report.
    static func all(of report: Report) -> [Branch] {
        // Going backwards, a connector is the last child of its parent unless a sibling was seen below the same parent.
        let depths = report.gates.map { gate in gate.path.utf8.count { $0 == UInt8(ascii: "/") } }
        var seen: [Bool] = []
        var isLast: [Bool] = []
        for depth in depths.reversed() {
            seen = Array(seen.prefix(depth + 1))
            while seen.count <= depth { seen.append(false) }
            isLast.append(!seen[depth])
            seen[depth] = true
        }
        isLast.reverse()
        var levels: [Bool] = []
        return report.gates.indices.map { index in
            levels = Array(levels.prefix(depths[index])) + [isLast[index]]
            let hasChildren = index + 1 < depths.count && depths[index + 1] > depths[index]
            return Branch(gate: report.gates[index], isLast: levels, hasChildren: hasChildren)
        }
    }
}
