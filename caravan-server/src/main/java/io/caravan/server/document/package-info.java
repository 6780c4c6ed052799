/**
 * The operations on named documents that all protocols share.
 *
 * <p>{@link io.caravan.server.document.DocumentService} combines the store and its catalog. For a write, the service
 * locks the names, {@link io.caravan.server.document.EditedDocument} checks that the document allows the write, and one
 * batch writes values and {@link io.caravan.server.document.DocumentAttributes}. A document may be closed, limited to
 * JSON, needed by forks, or expired. {@link io.caravan.server.document.CreateRequest} and {@link
 * io.caravan.server.document.AppendRequest} implement the rules of the Durable Streams protocol, <a
 * href="https://github.com/durable-streams/durable-streams">github.com/durable-streams</a>.
 */
@NullMarked
package io.caravan.server.document;

import org.jspecify.annotations.NullMarked;
