// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "example",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "application", targets: ["Application"]),
        .library(name: "greeter", type: .dynamic, targets: ["greeter"]),
    ],
    dependencies: [
        .package(name: "connector-host", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Application",
            dependencies: [.product(name: "ConnectorHost", package: "connector-host")]
        ),
        .target(
            name: "greeter",
            dependencies: [.product(name: "ConnectorKit", package: "connector-host")],
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-host")]
        ),
    ]
)
