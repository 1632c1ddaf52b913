// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorOutbox

extension GateReport {
    /// The style of the state; an optional gate is never shown as failed, only as a warning.
    var style: StyleName {
        switch state {
        case .open: .good
        case .degraded: .warning
        case .failed: isRequired ? .bad : .warning
        case .closed, .opening, .closing: isRequired && target == .open ? .warning : .muted
        }
    }

    /// A symbol for the state.
    var mark: StyledText {
        switch state {
        case .open: StyledText("✓ ", .good)
        case .failed: StyledText("✗ ", style)
        case .degraded: StyledText("! ", .warning)
        case .closed, .opening, .closing: StyledText("· ", style)
        }
    }

    /// How well the sandbox confines the gate, in a matching style; nil if it runs in the host's process.
    var confinementText: StyledText? {
        guard let sandboxText, let confinement else { return nil }
        switch confinement {
        case .whole: return StyledText(sandboxText, .text)
        case .partial: return StyledText(sandboxText, .warning)
        case .none: return StyledText(sandboxText, .bad)
        }
    }

    /// The last part of the path.
    var name: String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}

extension Timestamp {
    /// The time since a moment, in a suitable unit: `3 s`, `5 min`, `2 h`, `4 d`.
    func age(of moment: Timestamp) -> String {
        let seconds = nanoseconds > moment.nanoseconds ? (nanoseconds - moment.nanoseconds) / 1_000_000_000 : 0
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}

extension ConnectorError {
    /// The message with its code.
    var line: StyledText { StyledText(message) + StyledText(" [\(code.rawValue)]", .muted) }
}

extension DetailsModel {
    /// Adds an error: its message, cause, position and fix.
    mutating func add(_ error: ConnectorError, _ style: StyleName) {
        add("error", StyledText(error.message, style) + StyledText(" [\(error.code.rawValue)]", .muted))
        add("cause", error.cause.map { StyledText($0) })
        add("at", error.position.map { StyledText("\($0)") })
        add("remedy", error.fix.map { StyledText($0, .strong) })
    }
}

extension Int {
    /// The number in a style, or muted if it is zero.
    func text(_ style: StyleName) -> StyledText { StyledText("\(self)", self == 0 ? .muted : style) }
}

extension SceneContext {
    /// The link from the end of a page of events to the next one; nil if there is none.
    func nextPage(of list: RecordList, after page: RecordPage) -> Component? {
        guard let next = page.next else { return nil }
        var details = DetailsModel()
        details.add("more", StyledText("next page", .link), link: list.page(after: next).route)
        return component("more", details)
    }

    /// What a page without events says.
    ///
    /// - Parameter name: The name of the events, in the plural.
    func emptiness(of list: RecordList, _ page: RecordPage, _ name: String) -> ViewState {
        guard !list.search.isEmpty else { return .empty(list.cursor == nil ? "no \(name)" : "no more \(name)") }
        let text = "\"\(list.search.excerpt)\""
        guard page.next != nil else { return .empty("no \(list.cursor == nil ? "" : "more ")\(name) contain \(text)") }
        return .empty("none of \(page.readCount) \(name) contain \(text); the next page looks at more")
    }
}
