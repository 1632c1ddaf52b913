// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// Applications import `ConnectorHost` alone: what is public of the layers below, such as `JSONValue`, `CallOptions` or `HTTPOptions`,
// belongs to its interface.
@_exported public import ConnectorConfiguration
@_exported public import ConnectorInvocation
@_exported public import ConnectorManifest
@_exported public import ConnectorOutbox
@_exported public import ConnectorPlatform
@_exported public import ConnectorServices
