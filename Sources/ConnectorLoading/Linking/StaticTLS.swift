// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

#if canImport(Glibc)
    import Glibc
#endif

/// The part of every thread's memory that images with static thread-local variables share, and that a process cannot enlarge.
///
/// glibc sets it aside when the process starts. An image that was compiled with `-ftls-model=initial-exec` takes its part when it is
/// loaded, and never gives it back, because images stay in memory.
package enum StaticTLS {
    /// The bytes available to images that are loaded while the process runs; nil where there is no such limit.
    package static let limit: Int? = {
        #if canImport(Glibc)
            surplus(tunables: unsafe getenv("GLIBC_TUNABLES").map { unsafe String(cString: $0) } ?? "")
        #else
            nil
        #endif
    }()

    /// The bytes that glibc sets aside (`_dl_tls_static_surplus_init` in elf/dl-tls.c).
    ///
    /// For each namespace of the dynamic linker, 144 bytes for libraries that are not libc, and for each but the first, 192 bytes for its
    /// libc; then the value of `glibc.rtld.optional_static_tls`.
    static func surplus(tunables: String) -> Int {
        func tunable(_ name: String, _ standard: Int, _ range: ClosedRange<Int>) -> Int {
            var value = standard
            for setting in tunables.split(separator: ":") where setting.hasPrefix("glibc.rtld.\(name)=") {
                guard let number = Int(setting.drop { $0 != "=" }.dropFirst()), range.contains(number) else { continue }
                value = number
            }
            return value
        }
        let namespaces = tunable("nns", 4, 1...16)
        return (namespaces - 1) * 192 + namespaces * 144 + tunable("optional_static_tls", 512, 0...(1 << 30))
    }

    /// The error for an image that needs more than a process has for all images; nil if it needs less.
    static func excess(_ path: String, needs size: Int) -> ConnectorError? {
        guard let limit, size > limit else { return nil }
        return ConnectorError(
            .loadFailed,
            "\(path) needs \(size) bytes of static TLS, and a process has \(limit) for all images that it loads",
            fix: "compile the plugin without -ftls-model=initial-exec"
        )
    }

    /// The error for an image that needs more than what is left.
    static func exhausted(_ path: String, needs size: Int, used: Int, cause: String? = nil) -> ConnectorError {
        let left = limit.map { max(0, $0 - used) }
        return ConnectorError(
            .loadFailed,
            "\(path) needs \(size) bytes of static TLS, of which \(left.map(String.init) ?? "too few") are left: "
                + "images that were loaded before keep theirs until the process ends",
            fix: "restart the process, or compile the plugin without -ftls-model=initial-exec",
            cause: cause
        )
    }
}

extension ELFImage {
    /// The bytes of static TLS that loading the image takes; 0 for most images.
    package func staticTLS(_ dynamic: DynamicSection) -> Int {
        guard (dynamic[.flags] ?? 0) & ELFConstant.staticTLSFlag != 0, let segment = segment(ELFConstant.threadLocal),
            let size = Int(exactly: segment.memorySize), let alignment = Int(exactly: max(segment.alignment, 1)),
            size > 0, size < 1 << 30, alignment < 1 << 20
        else { return 0 }
        return (size + alignment - 1) / alignment * alignment
    }
}
