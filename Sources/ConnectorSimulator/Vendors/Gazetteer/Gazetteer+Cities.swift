// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Gazetteer {
    /// Cities with their bounding boxes.
    static let cities: [GazetteerPlace] = [
        place(
            "relation",
            62422,
            52.5173885,
            13.3951309,
            "Berlin",
            aliases: [],
            tag: ("boundary", "administrative"),
            0.8522,
            extent: .area(south: 52.3382448, north: 52.6755087, west: 13.088345, east: 13.7611609),
            [
                ("city", "Berlin"),
                ("state", "Berlin"),
                ("ISO3166-2-lvl4", "DE-BE"),
                ("country", "Germany"),
                ("country_code", "de"),
            ]
        ),
        place(
            "relation",
            71525,
            48.8534951,
            2.3483915,
            "Paris",
            aliases: [],
            tag: ("boundary", "administrative"),
            0.8845,
            extent: .area(south: 48.8155755, north: 48.902156, west: 2.224122, east: 2.4697602),
            [
                ("city", "Paris"),
                ("state", "Île-de-France"),
                ("ISO3166-2-lvl4", "FR-IDF"),
                ("country", "France"),
                ("country_code", "fr"),
            ]
        ),
        place(
            "relation",
            65606,
            51.5074456,
            -0.1277653,
            "London",
            aliases: [],
            tag: ("boundary", "administrative"),
            0.882,
            extent: .area(south: 51.2867601, north: 51.6918741, west: -0.5103751, east: 0.3340155),
            [
                ("city", "London"),
                ("state", "England"),
                ("ISO3166-2-lvl4", "GB-ENG"),
                ("country", "United Kingdom"),
                ("country_code", "gb"),
            ]
        ),
        place(
            "relation",
            175905,
            40.7127281,
            -74.0060152,
            "New York",
            aliases: ["New York City", "NYC"],
            tag: ("boundary", "administrative"),
            0.8175,
            extent: .area(south: 40.476578, north: 40.91763, west: -74.258843, east: -73.700233),
            [
                ("city", "New York"),
                ("state", "New York"),
                ("ISO3166-2-lvl4", "US-NY"),
                ("country", "United States"),
                ("country_code", "us"),
            ]
        ),
        place(
            "relation",
            111968,
            37.7792588,
            -122.4193286,
            "San Francisco",
            aliases: [],
            tag: ("boundary", "administrative"),
            0.7801,
            extent: .area(south: 37.6403143, north: 37.929811, west: -123.173825, east: -122.281178),
            [
                ("city", "San Francisco"),
                ("county", "San Francisco"),
                ("state", "California"),
                ("ISO3166-2-lvl4", "US-CA"),
                ("country", "United States"),
                ("country_code", "us"),
            ]
        ),
        place(
            "relation",
            62428,
            48.1371079,
            11.5753822,
            "Munich",
            aliases: ["München"],
            tag: ("boundary", "administrative"),
            0.7513,
            extent: .area(south: 48.0616244, north: 48.2481162, west: 11.360777, east: 11.7229099),
            [
                ("city", "Munich"),
                ("state", "Bavaria"),
                ("ISO3166-2-lvl4", "DE-BY"),
                ("country", "Germany"),
                ("country_code", "de"),
            ]
        ),
        place(
            "relation",
            1682248,
            47.3744489,
            8.5410422,
            "Zurich",
            aliases: ["Zürich", "Zuerich"],
            tag: ("boundary", "administrative"),
            0.7109,
            extent: .area(south: 47.320219, north: 47.434666, west: 8.448018, east: 8.625441),
            [
                ("city", "Zurich"),
                ("state", "Zurich"),
                ("ISO3166-2-lvl4", "CH-ZH"),
                ("country", "Switzerland"),
                ("country_code", "ch"),
            ]
        ),
        place(
            "relation",
            421866,
            50.4500336,
            30.5241361,
            "Kyiv",
            aliases: ["Kiev", "Київ"],
            tag: ("boundary", "administrative"),
            0.7603,
            extent: .area(south: 50.2132422, north: 50.5906216, west: 30.239148, east: 30.825941),
            [
                ("city", "Kyiv"),
                ("ISO3166-2-lvl4", "UA-30"),
                ("country", "Ukraine"),
                ("country_code", "ua"),
            ]
        ),
        place(
            "relation",
            5400890,
            38.7077507,
            -9.1365919,
            "Lisbon",
            aliases: ["Lisboa"],
            tag: ("boundary", "administrative"),
            0.7406,
            extent: .area(south: 38.6913994, north: 38.7967584, west: -9.2298356, east: -9.0863328),
            [
                ("city", "Lisbon"),
                ("county", "Lisbon"),
                ("ISO3166-2-lvl4", "PT-11"),
                ("country", "Portugal"),
                ("country_code", "pt"),
            ]
        ),
    ]
}
