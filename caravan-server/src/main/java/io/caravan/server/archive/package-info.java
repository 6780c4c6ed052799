/**
 * The archive of documents outside the server's machine: its content, its ownership, and its verification. {@code
 * object} contains the object stores, {@code format} the formats of the objects; an {@code Archive} uses both.
 */
@NullMarked
package io.caravan.server.archive;

import org.jspecify.annotations.NullMarked;
