// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A batch of which only the elements that pass a check are delivered. Each of the others is rejected by itself.
package struct CheckedBatch<Model> {
    /// What is delivered of the elements that have passed, in the order of the batch.
    package private(set) var models: [Model] = []
    /// An answer for each element that has not passed, and nil for each of ``models``, in the order of the batch.
    private var refusals: [DeliveryAnswer?] = []

    /// Checks the elements of a batch.
    ///
    /// - Parameter check: Returns what is to be delivered of an element, or throws why it cannot be.
    package init<Element>(
        _ elements: [Element],
        check: (_ element: Element, _ index: Int) throws(ConnectorError) -> Model
    ) {
        for (index, element) in elements.enumerated() {
            do throws(ConnectorError) {
                models.append(try check(element, index))
                refusals.append(nil)
            } catch {
                refusals.append(.rejected(error.message))
            }
        }
    }

    /// Whether the batch has elements, and none of them has passed.
    package var isRefused: Bool { models.isEmpty && !refusals.isEmpty }

    /// The answers to all elements, in the order of the batch.
    ///
    /// - Parameter delivered: The answers to ``models``, one for each.
    package func answers(_ delivered: [DeliveryAnswer]) -> [DeliveryAnswer] {
        var delivered = delivered.makeIterator()
        return refusals.compactMap { $0 ?? delivered.next() }
    }
}
