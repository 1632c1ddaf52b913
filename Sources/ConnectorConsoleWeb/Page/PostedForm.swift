// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A form that a page posted, and the page to return to.
struct PostedForm: Sendable {
    /// The path that it was posted to.
    let target: String
    /// The page that contained it.
    let address: PageAddress
    /// The values of its fields.
    let fields: QueryItems

    /// The path for buttons of acts.
    static let act = "/-/act"
    /// The path for forms with fields.
    static let call = "/-/call"
    /// The field that names the component with the form.
    static let form = "form"
    /// The field that confirms an act; its value is `yes`.
    static let confirmed = "confirmed"

    /// Parses a form; nil if it does not name its page.
    init?(_ target: String, _ fields: QueryItems) {
        guard let address = fields["at"].flatMap(PageAddress.init) else { return nil }
        self.target = target
        self.address = address
        self.fields = fields
    }

    /// Whether the operator confirmed the act.
    var isConfirmed: Bool { fields[Self.confirmed] == "yes" }
}
