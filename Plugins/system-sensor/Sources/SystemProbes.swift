// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Reads the metrics of this machine; memory and temperatures only on Linux.
struct SystemProbes: Sendable {
    let root: String
    let disks: [String]

    /// Every sensor; one that cannot be read has a reading of bad quality.
    func readings(at time: Timestamp) throws(ConnectorError) -> [SensorReading] {
        var readings: [SensorReading] = []
        func add(_ sensor: String, _ value: Double?, _ unit: String, _ quality: SensorReading.Quality = .good)
            throws(ConnectorError)
        {
            let quality = value == nil ? .bad : quality
            readings.append(try SensorReading(sensor, value, unit: unit, at: time, quality: quality))
        }
        let load = self.load
        for (index, name) in ["1m", "5m", "15m"].enumerated() { try add("load.\(name)", load?[index], "1") }
        #if os(Linux)
            let memory = MemoryInformation(text: text(of: "/proc/meminfo"))
            try add("memory.total", memory["MemTotal"], "By")
            try add("memory.available", memory["MemAvailable"], "By")
            for zone in 0..<16 {
                let folder = "/sys/class/thermal/thermal_zone\(zone)"
                guard let kind = text(of: folder + "/type").map(Self.word), !kind.isEmpty else { continue }
                let degrees = text(of: folder + "/temp").flatMap { Double(Self.word($0)) }.map { $0 / 1000 }
                let isPossible = degrees.map { (-50...150).contains($0) } ?? false
                try add("temperature.\(zone).\(kind.prefix(60))", degrees, "Cel", isPossible ? .good : .uncertain)
            }
        #endif
        let sandbox = sandboxDevice
        for disk in disks {
            let space = space(of: disk, besides: sandbox)
            try add("disk.total:\(disk)", space?.total, "By")
            try add("disk.available:\(disk)", space?.available, "By")
        }
        return readings
    }

    /// The mean number of runnable tasks over 1, 5 and 15 minutes.
    private var load: [Double]? {
        #if os(Linux)
            let numbers = text(of: "/proc/loadavg")?.split(separator: " ").prefix(3).compactMap { Double($0) }
            return numbers.flatMap { $0.count == 3 && $0.allSatisfy(\.isFinite) ? $0 : nil }
        #else
            var loads = [Double](repeating: 0, count: 3)
            return unsafe getloadavg(&loads, 3) == 3 ? loads : nil
        #endif
    }

    /// The space of the file system with a directory; nil if it cannot be read, or is the one that is not a disk.
    private func space(of disk: String, besides sandbox: dev_t?) -> (total: Double, available: Double)? {
        var (status, space) = (stat(), statvfs())
        guard unsafe stat(disk, &status) == 0, status.st_dev != sandbox, unsafe statvfs(disk, &space) == 0 else {
            return nil
        }
        let block = Double(space.f_frsize)
        return (Double(space.f_blocks) * block, Double(space.f_bavail) * block)
    }

    /// The device of the root directory if a runner's sandbox made it: no disk of the machine; nil otherwise.
    private var sandboxDevice: dev_t? {
        let mounts = text(of: "/proc/self/mountinfo")?.split(separator: "\n") ?? []
        var status = stat()
        guard mounts.contains(where: { $0.contains(" / / ") && $0.contains(" - tmpfs connector-sandbox ") }),
            unsafe stat("/", &status) == 0
        else { return nil }
        return status.st_dev
    }

    /// The first 16 KiB of a file below the root; nil if it cannot be read. The kernel generates such files, so this
    /// does not wait for a disk.
    private func text(of path: String) -> String? {
        let file = unsafe open(root + path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    private static func word(_ text: String) -> String {
        String(text.prefix { !$0.isWhitespace })
    }
}

/// The numbers of `/proc/meminfo`, in bytes.
struct MemoryInformation {
    private var values: [Substring: Double] = [:]

    init(text: String?) {
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 3, parts[2] == "kB", let kibibytes = UInt64(parts[1]) else { continue }
            values[parts[0].dropLast()] = Double(kibibytes) * 1024
        }
    }

    /// The number with a name; nil if the kernel does not report it.
    subscript(name: String) -> Double? { values[name[...]] }
}
