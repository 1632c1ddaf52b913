// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// Applications import `ConnectorHost` alone: the public types of lower layers, such as `JSONValue`, `CallOptions` and
// `HTTPOptions`, are part of its interface.
@_exported public import ConnectorConfiguration
@_exported public import ConnectorInvocation
@_exported public import ConnectorManifest
@_exported public import ConnectorOutbox
@_exported public import ConnectorPlatform
@_exported public import ConnectorServices
