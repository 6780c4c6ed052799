/**
 * The archive of documents outside the server's machine: its contents, its owner, and how it is read. {@code object}
 * holds the object stores, {@code format} the formats of the objects; an {@code Archive} ties both together.
 */
@NullMarked
package io.caravan.server.archive;

import org.jspecify.annotations.NullMarked;
