// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

// Plugins and tools import `ConnectorManifest` alone: JSON, errors and the models of the capabilities belong to its interface.
@_exported public import ConnectorBase
@_exported public import ConnectorCapabilities
