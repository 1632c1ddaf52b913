// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

/// Values that applications leave open, and names that adapters need for themselves.
@Suite struct GivenTests {
    @Test func `null and an empty text give nothing, and every other value itself`() {
        let object: JSONObject = ["null": .null, "empty": "", "blank": " ", "zero": 0, "no": false, "object": [:]]
        for name in ["null", "empty", "absent"] { #expect(object[name].given == nil, "\(name)") }
        for name in ["blank", "zero", "no", "object"] { #expect(object[name].given == object[name], "\(name)") }
        for (text, expected) in [("", nil), (nil, nil), (" ", " ")] as [(String?, String?)] {
            #expect(text.given == expected)
        }
    }

    @Test(arguments: [JSONValue.null, ""])
    func `a property without a value does not hide the name and the category`(_ nothing: JSONValue) {
        var page = AnalyticsEvent(.page, userId: "u")
        (page.name, page.category) = ("Home", "Shop")
        page.properties = ["name": nothing, "category": "Mine"]
        #expect(page.namedProperties == ["name": "Home", "category": "Mine"])
    }

    @Test func `a member that an adapter displaces keeps its value under the first free name`() {
        var object: JSONObject = ["tags": 1, "tags_": 2]
        object.displace("tags", with: 3)
        object.displace("level", with: 4)
        #expect(object == ["tags": 3, "tags_": 2, "tags__": 1, "level": 4])
    }
}
