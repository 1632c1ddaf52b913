// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Every simulated vendor.
package enum VendorCatalogue {
    /// The vendors, in the order of listings.
    package static let types: [any Vendor.Type] = [
        SegmentVendor.self, PostHogVendor.self, InfluxDBVendor.self, SentryVendor.self, BugsnagVendor.self,
        ParseVendor.self, KintoVendor.self, NominatimVendor.self, PhotonVendor.self, GoogleVendor.self,
        OpenCageVendor.self, WebDAVVendor.self, S3Vendor.self, EtcdVendor.self,
        PushgatewayVendor.self, VictoriaMetricsVendor.self, ClickHouseVendor.self, AmplitudeVendor.self,
        MixpanelVendor.self, GA4Vendor.self, RollbarVendor.self,
        MatomoVendor.self, PostgRESTVendor.self, DatasetteVendor.self,
    ]

    /// A vendor by its name; nil if none has it.
    static func type(named name: String) -> (any Vendor.Type)? { types.first { $0.name == name } }

    /// The vendors' names, in the order of listings.
    package static var names: [String] { types.map { $0.name } }

    /// The credentials that each vendor accepts by default, by vendor and configuration key.
    package static var demoCredentials: [String: [String: String]] {
        Dictionary(uniqueKeysWithValues: types.map { ($0.name, $0.demoCredentials) })
    }
}
