// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// Functions of runtimes that must be in the process from its start, with the runtimes' names.
    ///
    /// `library` is the runtime's library, for runtimes that can be preloaded into a program that was built without
    /// them.
    private static let runtimes: [(symbol: String, name: String, library: String?)] = [
        ("__asan_init", "AddressSanitizer", "asan"), ("__tsan_init", "ThreadSanitizer", "tsan"),
        ("__msan_init", "MemorySanitizer", nil), ("__hwasan_init", "hardware-assisted AddressSanitizer", nil),
    ]

    /// Checks the dynamic symbols: their names, their versions, and the addresses of the defined ones.
    func checkSymbols(lastVersion: UInt16?) throws(ConnectorError) {
        let versions = dynamic[.versionSymbols].flatMap { offset(of: $0, symbolCount * 2) }
        let threadLocalSize = image.segment(ELFConstant.threadLocal)?.memorySize ?? 0
        for index in 0..<symbolCount {
            guard let symbol = image.symbol(at: index, dynamic), symbol.name < dynamic.stringsSize else {
                throw damaged("symbol \(index) has no name")
            }
            if index == 0 {
                guard symbol.section == 0, symbol.info == 0, symbol.name == 0, symbol.value == 0 else {
                    throw damaged("its symbols do not start with an empty one")
                }
                continue
            }
            if let versions, let lastVersion {
                let version = image.bytes.integer(at: versions + index * 2, as: UInt16.self) ?? .max
                guard version & 0x7FFF <= lastVersion else {
                    throw damaged("symbol \(index) has an invalid version")
                }
            }
            if symbol.section == 0 {
                // Otherwise the linker takes the undefined symbol for a definition.
                guard symbol.value == 0, symbol.other & 3 == 0 || isBoundOfNothing(symbol), symbol.binding != .local
                else {
                    throw damaged("symbol \(index) is undefined, but not in the form of an import")
                }
                try checkRuntime(symbol)
            } else {
                try check(symbol, index, threadLocalSize: threadLocalSize)
            }
        }
    }

    /// Whether an undefined symbol is the start or the end of a section that the image does not have.
    ///
    /// The linker gold keeps these, weak and hidden, as in every image that is built for Swift's code coverage. The dynamic linker gives
    /// them the image's own address in place of 0, which is harmless: both ends of the section are the same.
    private func isBoundOfNothing(_ symbol: ELFImage.Symbol) -> Bool {
        guard symbol.isHiddenImport, symbol.info == 2 << 4, symbol.other & 3 == 2, let strings = dynamic.strings,
            let name = image.bytes.text(at: strings + symbol.name, limit: 256)
        else { return false }
        return name.hasPrefix("__start_") || name.hasPrefix("__stop_")
    }

    private func check(_ symbol: ELFImage.Symbol, _ index: Int, threadLocalSize: UInt64) throws(ConnectorError) {
        // An absolute value is not an address.
        guard symbol.section != 0xFFF1 else { return }
        let isSound =
            switch symbol.kind {
            case .function, .indirectFunction: symbol.value == 0 || isFunction(symbol.value)
            case .threadLocal: symbol.value <= threadLocalSize && symbol.size <= threadLocalSize - symbol.value
            case .object:
                symbol.value <= memoryEnd && symbol.size <= memoryEnd - symbol.value
            default: symbol.value <= memoryEnd
            }
        guard isSound else { throw damaged("symbol \(index) lies outside its section") }
    }

    /// Code built for a sanitizer exits or crashes a process that was not started with it.
    private func checkRuntime(_ symbol: ELFImage.Symbol) throws(ConnectorError) {
        guard let strings = dynamic.strings, image.bytes.integer(at: strings + symbol.name, as: UInt16.self) == 0x5F5F
        else {
            return
        }
        for runtime in Self.runtimes where image.bytes.hasText(runtime.symbol.utf8Span.span, at: strings + symbol.name)
        {
            guard unsafe !DynamicLinker.isDefinedGlobally(runtime.symbol) else { return }
            throw ConnectorError(
                .loadFailed,
                "\(image.bytes.path) was built for \(runtime.name), which this process was not started with",
                fix: runtime.library.map(preloading)
                    ?? "build the plugin without -fsanitize, or the host with it too"
            )
        }
    }

    /// How to start the program with a runtime: the one that the image names, or else its compiler's.
    private func preloading(_ library: String) -> String {
        let needed = image.neededLibraries(dynamic).first {
            $0.hasPrefix("lib\(library).so") || $0.contains("_rt.\(library)")
        }
        let file = needed ?? "$(clang -print-file-name=libclang_rt.\(library)-$(uname -m).so)"
        let options = library == "asan" ? "ASAN_OPTIONS=detect_leaks=0 " : ""
        return "start the program with the runtime, \(options)LD_PRELOAD=\(file), with \"isolation\": \"none\" at the "
            + "plugin's connector, since a runner gets no variables, or build the plugin without -fsanitize"
    }
}
