// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension SecretAutomaton {
    /// Creates an automaton for secrets; it ignores empty ones.
    init(_ secrets: [[UInt8]]) {
        var builder = Builder()
        var shortWords = ShortWords()
        for secret in secrets where !secret.isEmpty {
            if secret.count <= ShortWords.longest {
                shortWords.insert(secret)
            } else {
                builder.insert(secret.map(\.foldedForSecrets))
            }
        }
        builder.finish()
        self.shortWords = shortWords
        var used = [Bool](repeating: false, count: 256)
        for edge in builder.edges { used[Int(edge.byte)] = true }
        var count: Int16 = 0
        let numbers = used.map { isUsed -> Int16 in
            guard isUsed else { return -1 }
            count += 1
            return count - 1
        }
        classes = (0...UInt8.max).map { numbers[Int($0.foldedForSecrets)] }
        words = (Int(count) + 63) / 64
        (states, targets, bitmaps) = builder.packed(classes: classes, words: words)
    }
}

extension SecretAutomaton {
    /// Builds the automaton, one secret after the other (Blumer et al., "The smallest automaton recognizing the
    /// subwords of a text", 1985).
    fileprivate struct Builder {
        /// A transition from one state to another on one byte.
        struct Edge {
            var byte: UInt8
            var target: Int32
            /// The next edge of the same state; -1 for none.
            var next: Int32
        }

        private(set) var states = [State(firstEdge: -1)]
        private(set) var edges: [Edge] = []
        /// The state of each whole secret, with the fewest bytes of its end to hide at the start of a text.
        private var ends: [(state: Int32, least: UInt8)] = []

        /// Adds a secret of more than 3 bytes.
        mutating func insert(_ secret: [UInt8]) {
            let leastAnywhere = SecretPiece.leastAnywhere(of: secret.count)
            let leastAtEnd = SecretPiece.leastAtEnd(of: secret.count)
            var last = 0
            for byte in secret {
                last = extend(last, byte)
                states[last].leastAnywhere = min(states[last].leastAnywhere, leastAnywhere)
                let leastFront = states[last].leastFront
                states[last].leastFront = leastFront == 0 ? leastAtEnd : min(leastFront, leastAtEnd)
            }
            ends.append((Int32(clamping: last), leastAtEnd))
        }

        /// The state of the pieces that end with one more byte; the longest of them is a prefix of the secret.
        private mutating func extend(_ last: Int, _ byte: UInt8) -> Int {
            if let edge = edge(of: last, byte) {
                // An earlier secret has the same prefix.
                return splitState(behind: last, edge)
            }
            let made = append(State(firstEdge: -1, length: states[last].length + 1))
            var state = last
            while true {
                if let edge = edge(of: state, byte) {
                    states[made].link = Int32(clamping: splitState(behind: state, edge))
                    return made
                }
                connect(state, byte, made)
                guard state != 0 else { return made }
                state = Int(states[state].link)
            }
        }

        /// The state whose longest piece is another state's longest piece plus one byte; split off if there is none.
        private mutating func splitState(behind state: Int, _ edge: Int) -> Int {
            let found = Int(edges[edge].target)
            guard states[found].length != states[state].length + 1 else { return found }
            var copy = states[found]
            copy.length = states[state].length + 1
            copy.leastFront = 0
            copy.firstEdge = -1
            let made = append(copy)
            var next = states[found].firstEdge
            while next >= 0 {
                connect(made, edges[Int(next)].byte, Int(edges[Int(next)].target))
                next = edges[Int(next)].next
            }
            states[found].link = Int32(clamping: made)
            let byte = edges[edge].byte
            var below = state
            while let edge = self.edge(of: below, byte), Int(edges[edge].target) == found {
                edges[edge].target = Int32(clamping: made)
                guard below != 0 else { break }
                below = Int(states[below].link)
            }
            return made
        }

        /// Propagates the properties of each state to the states of its shorter pieces, and the reverse.
        mutating func finish() {
            for end in ends {
                var state = end.state
                while state != 0 {
                    let least = states[Int(state)].leastTail
                    // The secrets before this one have already updated the rest of the path.
                    if least != 0, least <= end.least { break }
                    states[Int(state)].leastTail = end.least
                    state = states[Int(state)].link
                }
            }
            let order = states.indices.sorted { states[$0].length < states[$1].length }
            for state in order.reversed() where state != 0 {
                let link = Int(states[state].link)
                states[link].leastAnywhere = min(states[link].leastAnywhere, states[state].leastAnywhere)
            }
            for state in order where state != 0 {
                let link = states[Int(states[state].link)]
                states[state].shorter = link.length >= link.leastAnywhere ? link.length : link.shorter
                let isFront = link.leastFront > 0
                states[state].shorterAtEnd =
                    isFront && link.length >= link.leastFront ? link.length : link.shorterAtEnd
                states[state].shorterAtCut =
                    isFront && link.length >= SecretPiece.leastAtMark ? link.length : link.shorterAtCut
            }
        }

        /// The automaton in the form that searches need.
        func packed(classes: [Int16], words: Int) -> (states: [State], targets: [Int32], bitmaps: [UInt64]) {
            var packed = states
            var targets: [Int32] = []
            targets.reserveCapacity(edges.count)
            var bitmaps = [UInt64](repeating: 0, count: states.count * words)
            var own: [(class: Int, target: Int32)] = []
            for index in states.indices {
                own.removeAll(keepingCapacity: true)
                var next = states[index].firstEdge
                while next >= 0 {
                    let edge = edges[Int(next)]
                    own.append((Int(classes[Int(edge.byte)]), edge.target))
                    next = edge.next
                }
                own.sort { $0.class < $1.class }
                packed[index].firstEdge = Int32(clamping: targets.count)
                for edge in own {
                    bitmaps[index * words + edge.class >> 6] |= 1 << UInt64(edge.class & 63)
                    targets.append(edge.target)
                }
            }
            return (packed, targets, bitmaps)
        }

        private mutating func append(_ state: State) -> Int {
            states.append(state)
            return states.count - 1
        }

        private mutating func connect(_ state: Int, _ byte: UInt8, _ target: Int) {
            edges.append(Edge(byte: byte, target: Int32(clamping: target), next: states[state].firstEdge))
            states[state].firstEdge = Int32(clamping: edges.count - 1)
        }

        private func edge(of state: Int, _ byte: UInt8) -> Int? {
            var next = states[state].firstEdge
            while next >= 0 {
                if edges[Int(next)].byte == byte { return Int(next) }
                next = edges[Int(next)].next
            }
            return nil
        }
    }
}
