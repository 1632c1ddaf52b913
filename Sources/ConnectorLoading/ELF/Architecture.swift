// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The target of an image: processor, word size and byte order, from its ELF header.
package struct Architecture: Sendable, Hashable, CustomStringConvertible {
    /// `e_machine`, the processor's number in the System V gABI.
    package var machine: UInt16
    /// Whether addresses have 64 bits.
    package var is64Bit: Bool
    /// Whether the least significant byte comes first.
    package var isLittleEndian: Bool

    /// The architecture that this process runs on.
    package static var host: Architecture {
        #if arch(x86_64)
            let machine: UInt16 = 62
        #elseif arch(arm64)
            let machine: UInt16 = 183
        #elseif arch(riscv64)
            let machine: UInt16 = 243
        #elseif arch(powerpc64le)
            let machine: UInt16 = 21
        #elseif arch(s390x)
            let machine: UInt16 = 22
        #else
            let machine: UInt16 = 0
        #endif
        return Architecture(
            machine: machine,
            is64Bit: MemoryLayout<Int>.size == 8,
            isLittleEndian: 1.littleEndian == 1
        )
    }

    /// The processor's usual name, the word size and the byte order.
    package var description: String {
        let name =
            switch machine {
            case 3: "i386"
            case 8: "mips"
            case 20: "powerpc"
            case 21: "powerpc64"
            case 22: "s390x"
            case 40: "arm"
            case 62: is64Bit ? "x86_64" : "x32"
            case 183: "aarch64"
            case 243: is64Bit ? "riscv64" : "riscv32"
            case 258: "loongarch64"
            default: "machine \(machine)"
            }
        let bits = is64Bit ? "64" : "32"
        let order = isLittleEndian ? "little" : "big"
        return "\(name) (\(bits)-bit, \(order) endian)"
    }
}
