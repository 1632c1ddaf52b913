// swift-tools-version: 6.2
import PackageDescription

/// Where the kit for authors is: it comes with connector-host, in share/connector-host/kit, and needs no other package.
let kit = Context.environment["CONNECTOR_KIT"] ?? "@KIT@"

let package = Package(
    name: "@NAME@",
    platforms: [.macOS(.v26)],
    products: [.library(name: "@NAME@", type: .dynamic, targets: ["@NAME@"])],
    dependencies: [.package(name: "connector-kit", path: kit)],
    targets: [
        .target(
            name: "@NAME@",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-kit"),
                .product(name: "ConnectorManifest", package: "connector-kit"),
            ],
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-kit")]
        ),
        .testTarget(
            name: "AdapterTests",
            dependencies: [
                "@NAME@", .product(name: "ConnectorKit", package: "connector-kit"),
                .product(name: "ConnectorManifest", package: "connector-kit"),
            ]
        ),
    ]
)
