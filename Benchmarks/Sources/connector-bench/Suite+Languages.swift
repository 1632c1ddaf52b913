// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The rest: other languages' calls of the same function, and allocations.
extension Suite {
    /// Calls the same function from Python, where it is installed.
    func otherLanguages() async throws -> [Measurement] {
        var results: [Measurement] = []
        for module in ["ctypes", "cffi"] {
            var line = Measurement("call/python-\(module)", "  the same call from Python with \(module)")
            let script = ["python3", "Programs/call.py", module, "\(files)/1/plugins/libquick-0000.so"]
            guard (try? ChildProcess.numbers(script)) != nil else { continue }
            for _ in 0..<3 { line.host.add(try ChildProcess.numbers(script)[0]) }
            results.append(line)
        }
        return results
    }

    /// Counts what a thousand typed calls allocate.
    func allocations() async throws -> [Measurement] {
        var line = Measurement("allocations", "allocations of 1000 typed calls", unit: .count, goal: .value(0))
        let command = ["LD_PRELOAD=\(files)/libcount.so", "\(programs)/connector-bench", "allocations", files]
        line.host.add(try ChildProcess.numbers(command)[0])
        return [line]
    }
}
