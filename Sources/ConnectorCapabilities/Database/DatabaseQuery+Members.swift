// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension DatabaseQuery {
    /// The members of a query, most commonly used first.
    static let members = [
        ModelMember(
            "where",
            "the conditions on the records, by member: its value, or comparisons",
            .map(.either([.scalar, .object(comparisons, isClosed: true)])),
            example: #"{"city": "Bern", "age": {"ge": 18}}"#
        ),
        ModelMember(
            "sort",
            "the members to order by, most significant first; after -, the greatest value is first",
            .array(.text),
            example: #"["name", "-age"]"#
        ),
        ModelMember("limit", "the most records, 1 to 1000; 100 by default", .number),
        ModelMember("cursor", "the cursor of the previous page"),
    ]

    /// The comparisons with a member of a record.
    private static let comparisons = [
        ModelMember(Comparison.equal.rawValue, "the same value", .scalar),
        ModelMember(Comparison.notEqual.rawValue, "a different value", .scalar),
        ModelMember(Comparison.less.rawValue, "before the value", .scalar),
        ModelMember(Comparison.lessOrEqual.rawValue, "before the value, or equal", .scalar),
        ModelMember(Comparison.greater.rawValue, "after the value", .scalar),
        ModelMember(Comparison.greaterOrEqual.rawValue, "after the value, or equal", .scalar),
        ModelMember(Comparison.within.rawValue, "one of the values", .array(.scalar, minimum: 1)),
    ]
}
