/**
 * Copies of documents outside of the host: what is in an archive, who may write it, and how it is read. {@code object}
 * is where the bytes lie, {@code format} what they mean; an {@code Archive} ties both together.
 */
@NullMarked
package io.caravan.server.archive;

import org.jspecify.annotations.NullMarked;
