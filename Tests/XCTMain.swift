// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Where the tests begin, on Linux.
///
/// The package manager takes a file of this name for the entry point. It would otherwise generate one, and to find tests of XCTest, of
/// which there are none, read the index that the compiler writes of all sources: an eighth of the time of a build.
@main
struct Main {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
