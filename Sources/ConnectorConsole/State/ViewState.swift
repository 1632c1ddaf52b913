// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The state of a component's contents or of an act: loading, loaded, empty, failed or pending.
///
/// A component that is not loaded may still have rows from an earlier time; a platform then shows both.
public struct ViewState: Sendable, Hashable {
    /// The word for the state, which is also the class of its element on a web page.
    public let name: String
    /// A sentence for the operator; empty if there is nothing to say.
    public let message: String
    /// The code of the error; nil unless it failed with one.
    public let code: ConnectorError.Code?

    private init(_ name: String, _ message: String = "", code: ConnectorError.Code? = nil) {
        self.name = name
        self.message = message
        self.code = code
    }

    /// Its contents have not arrived yet.
    public static let loading = ViewState("loading", "loading …")
    /// Its contents are shown.
    public static let loaded = ViewState("loaded")

    /// There is nothing to show, and nothing is wrong.
    public static func empty(_ sentence: String = "no entries") -> ViewState { ViewState("empty", sentence) }

    /// It failed, for the reason given in the sentence.
    public static func failed(_ sentence: String) -> ViewState { ViewState("failed", sentence) }

    /// It failed with an error.
    public static func failed(_ error: ConnectorError) -> ViewState {
        ViewState("failed", error.message, code: error.code)
    }

    /// Work on it is under way.
    public static func pending(_ sentence: String = "working …") -> ViewState { ViewState("pending", sentence) }

    /// Whether it failed.
    public var isFailed: Bool { name == "failed" }
    /// Whether work is under way.
    public var isPending: Bool { name == "pending" }
    /// Whether it is waiting for its contents, or for work to end.
    public var isBusy: Bool { isPending || self == .loading }

    /// The line that a platform shows; empty if the contents speak for themselves.
    public var text: StyledText {
        switch name {
        case "failed": StyledText(message, .bad) + StyledText(code.map { " [\($0.rawValue)]" } ?? "", .muted)
        case "loaded": ""
        default: StyledText(message, .muted)
        }
    }
}
