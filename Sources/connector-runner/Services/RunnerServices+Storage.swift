// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorInvocation
internal import ConnectorIsolation

/// `storage/1`: the host has the values, and this process keeps no copy.
extension RunnerServices {
    func storedValue(of key: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        try requests.exchange(.storageGet) { $0.put(key) }
    }

    func storedKeys(startingWith prefix: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        try requests.exchange(.storageList) { $0.put(prefix) }
    }

    func store(_ value: [UInt8], as key: [UInt8]) throws(ServiceFailure) {
        try requests.exchange(.storageSet) { message in
            message.put(key)
            message.put(value)
        }
    }

    func replaceStored(_ expected: [UInt8]?, with value: [UInt8], of key: [UInt8]) throws(ServiceFailure) {
        try requests.exchange(.storageReplace) { message in
            message.put(key)
            message.put(expected) { $0.put($1) }
            message.put(value)
        }
    }

    func removeStored(_ key: [UInt8]) throws(ServiceFailure) {
        try requests.exchange(.storageRemove) { $0.put(key) }
    }
}
