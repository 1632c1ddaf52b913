// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A place, in the form that all geocoders share.
public struct Place: Sendable, Hashable {
    /// The location.
    public var coordinate: Coordinate
    /// The place's name, if it has one.
    public var name: String?
    /// The address in one line, as the vendor formats it.
    public var formattedAddress: String?
    /// The parts of the address.
    public var components: AddressComponents
    /// The area that contains the whole place.
    public var boundingBox: BoundingBox?
    /// The plugin id of the geocoder that found the place.
    public var provider: String
    /// The notice to show beside the place, where the data's license requires one.
    public var attribution: String?
    /// The vendor's id for the place.
    public var id: String?

    /// Creates a place.
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

    /// Reads the result of `geocode` or `reverse`: an array of places, best first.
    public static func places(json: JSONValue) throws(ConnectorError) -> [Place] {
        try ModelReader(["places": json], "answer").models("places") { json, path throws(ConnectorError) in
            try Place(json: json, path: path)
        }
    }

    /// The JSON form that operations return.
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
