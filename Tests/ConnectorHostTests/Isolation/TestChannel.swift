// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

/// How calls reach a plugin in a test that runs once for each way.
enum TestChannel: String, CaseIterable, CustomTestStringConvertible {
    /// The plugin is in this process.
    case here
    /// The plugin is in a runner.
    case runner

    /// The channels that there are: runners are not built for a sanitizer.
    static var all: [TestChannel] { Sanitizer.isPresent ? [.here] : allCases }

    /// The settings of a leaf, whose connection is not proved again.
    var settings: String {
        switch self {
        case .here: #""probe": "off""#
        case .runner: #""probe": "off", "isolation": "process""#
        }
    }

    var testDescription: String { rawValue }
}
