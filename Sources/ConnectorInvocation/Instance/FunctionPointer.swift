// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Converts a C function to the type of a table field that declares the same function with different nullability.
///
/// The functions in the host's tables accept null where a header says non-null: a plugin may pass null anyway, and gets a status.
/// Nullability does not change a pointer's representation in C, so both types describe the same function.
package func fitting<Function, Field>(_ function: Function) -> Field {
    unsafe unsafeBitCast(function, to: Field.self)
}
