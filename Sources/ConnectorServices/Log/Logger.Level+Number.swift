// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import Logging

extension Logger.Level {
    /// The level of a number of `log/1`; the nearest one for an unknown number.
    package init(number: Int32) {
        self =
            switch number {
            case ...CONNECTOR_LOG_TRACE: .trace
            case CONNECTOR_LOG_DEBUG: .debug
            case CONNECTOR_LOG_INFO: .info
            case CONNECTOR_LOG_NOTICE: .notice
            case CONNECTOR_LOG_WARNING: .warning
            case CONNECTOR_LOG_ERROR: .error
            default: .critical
            }
    }

    /// The number of the level in `log/1`.
    package var number: Int32 {
        switch self {
        case .trace: CONNECTOR_LOG_TRACE
        case .debug: CONNECTOR_LOG_DEBUG
        case .info: CONNECTOR_LOG_INFO
        case .notice: CONNECTOR_LOG_NOTICE
        case .warning: CONNECTOR_LOG_WARNING
        case .error: CONNECTOR_LOG_ERROR
        case .critical: CONNECTOR_LOG_CRITICAL
        }
    }
}
