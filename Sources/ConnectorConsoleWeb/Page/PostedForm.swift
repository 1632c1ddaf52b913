// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A form that a page posted: what to do, and the page to go back to.
struct PostedForm: Sendable {
    /// Where it was posted.
    let target: String
    /// The page that it was on.
    let address: PageAddress
    /// What it holds.
    let fields: QueryItems

    /// Buttons of acts.
    static let act = "/-/act"
    /// Forms of operations.
    static let call = "/-/call"
    /// Says yes to the question that was asked.
    static let sure = "sure"

    /// Reads a form; nil if it names no page.
    init?(_ target: String, _ fields: QueryItems) {
        guard let address = fields["at"].flatMap(PageAddress.init) else { return nil }
        self.target = target
        self.address = address
        self.fields = fields
    }

    /// Whether the question was answered with yes.
    var isSure: Bool { fields[Self.sure] == "yes" }
}
