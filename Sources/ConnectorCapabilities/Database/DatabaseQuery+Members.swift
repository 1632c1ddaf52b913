// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension DatabaseQuery {
    /// The members of a query, most commonly used first.
    static let members = [
        ModelMember("where", "the conditions on the records", .json, example: #"{"city": "Bern", "age": {"ge": 18}}"#),
        ModelMember("sort", "the order, most significant first", .json, example: #"["name", "-age"]"#),
        ModelMember("limit", "the most records, 1 to 1000; 100 by default", .number),
        ModelMember("cursor", "the cursor of the previous page"),
    ]
}
