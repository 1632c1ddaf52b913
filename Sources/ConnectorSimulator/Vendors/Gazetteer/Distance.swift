// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Distances on the globe.
enum Distance {
    /// The distance between two coordinates in meters, by a planar approximation that is accurate for short distances.
    static func metres(from one: (Double, Double), to other: (Double, Double)) -> Double {
        let degree = 111_195.0
        let north = (one.0 - other.0) * degree
        let east = (one.1 - other.1) * degree * cos((one.0 + other.0) / 2 * .pi / 180)
        return (north * north + east * east).squareRoot()
    }
}
