// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A place as every geocoder describes it here.
public struct Place: Sendable, Hashable {
    /// Where it is.
    public var coordinate: Coordinate
    /// What it is called, if it has a name of its own.
    public var name: String?
    /// Its address in one line, as the vendor formats it.
    public var formattedAddress: String?
    /// The parts of its address.
    public var components: AddressComponents
    /// The area that shows all of it.
    public var boundingBox: BoundingBox?
    /// Which geocoder says so: the plugin's id.
    public var provider: String
    /// What must be shown beside it, where the licence of the data demands that.
    public var attribution: String?
    /// The vendor's name for it.
    public var id: String?

    /// Makes a place.
    public init(
        _ coordinate: Coordinate,
        name: String? = nil,
        formattedAddress: String? = nil,
        components: AddressComponents = AddressComponents(),
        boundingBox: BoundingBox? = nil,
        provider: String,
        attribution: String? = nil,
        id: String? = nil
    ) {
        self.coordinate = coordinate
        self.name = name
        self.formattedAddress = formattedAddress
        self.components = components
        self.boundingBox = boundingBox
        self.provider = provider
        self.attribution = attribution
        self.id = id
    }

    /// Reads a place.
    public init(json: JSONValue, path: String = "place") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        self.init(
            try Coordinate(reader),
            name: try reader.string("name"),
            formattedAddress: try reader.string("formattedAddress"),
            components: try AddressComponents(json: .object(reader.object("components")), path: "\(path).components"),
            provider: try reader.requiredString("provider"),
            attribution: try reader.string("attribution"),
            id: try reader.string("id")
        )
        if let box = reader.object["boundingBox"], box != .null {
            boundingBox = try BoundingBox(json: box, path: "\(path).boundingBox")
        }
    }

    /// Reads what `geocode` and `reverse` answer: an array, best first.
    public static func places(json: JSONValue) throws(ConnectorError) -> [Place] {
        try ModelReader(["places": json], "answer").models("places") { json, path throws(ConnectorError) in
            try Place(json: json, path: path)
        }
    }

    /// As operations answer it.
    public var json: JSONValue {
        var object = JSONObject()
        coordinate.write(to: &object)
        object.set("name", name)
        object.set("formattedAddress", formattedAddress)
        object.set("components", components.json.object ?? JSONObject())
        if let boundingBox { object["boundingBox"] = boundingBox.json }
        object.set("provider", provider)
        object.set("attribution", attribution)
        object.set("id", id)
        return .object(object)
    }
}
