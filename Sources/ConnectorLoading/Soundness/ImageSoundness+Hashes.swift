// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// Checks the hash tables for symbol look-up: an endless chain would hang the process.
    func checkHashTables() throws(ConnectorError) {
        if dynamic[.gnuHash] != nil {
            guard isGNUHashSound else { throw damaged("its hash table points outside the table") }
        } else if dynamic[.hash] != nil {
            guard isHashSound else { throw damaged("its hash table points outside the table, or in a circle") }
        } else {
            throw damaged("it has no hash table")
        }
    }

    private var isGNUHashSound: Bool {
        guard let address = dynamic[.gnuHash], let start = offset(of: address, 16),
            let buckets = image.bytes.integer(at: start, as: UInt32.self), buckets > 0,
            let first = image.bytes.integer(at: start + 4, as: UInt32.self),
            let filters = image.bytes.integer(at: start + 8, as: UInt32.self), filters & (filters &- 1) == 0,
            filters > 0,
            let shift = image.bytes.integer(at: start + 12, as: UInt32.self), shift < 32
        else { return false }
        let head = 16 + Int(filters) * 8 + Int(buckets) * 4
        guard offset(of: address, head) != nil else { return false }
        var last: UInt32 = 0
        for index in 0..<Int(buckets) {
            guard let symbol = image.bytes.integer(at: start + head - Int(buckets) * 4 + index * 4, as: UInt32.self)
            else { return false }
            guard symbol == 0 || symbol >= first else { return false }
            last = max(last, symbol)
        }
        guard last > 0 else { return true }
        // If the last chain ends, so does every chain before it.
        while let link = image.bytes.integer(at: start + head + Int(last - first) * 4, as: UInt32.self) {
            guard Int(last) < symbolCount, offset(of: address, head + Int(last - first + 1) * 4) != nil else {
                return false
            }
            if link & 1 == 1 { return true }
            last += 1
        }
        return false
    }

    private var isHashSound: Bool {
        guard let address = dynamic[.hash], let start = offset(of: address, 8),
            let buckets = image.bytes.integer(at: start, as: UInt32.self), buckets > 0,
            let chains = image.bytes.integer(at: start + 4, as: UInt32.self), Int(chains) <= symbolCount,
            offset(of: address, 8 + (Int(buckets) + Int(chains)) * 4) != nil
        else { return false }
        // Every symbol is in at most one chain.
        var remaining = chains
        for index in 0..<Int(buckets) {
            var symbol = image.bytes.integer(at: start + 8 + index * 4, as: UInt32.self) ?? .max
            while symbol != 0 {
                guard symbol < chains, remaining > 0 else { return false }
                remaining -= 1
                symbol = image.bytes.integer(at: start + 8 + (Int(buckets) + Int(symbol)) * 4, as: UInt32.self) ?? .max
            }
        }
        return true
    }
}
