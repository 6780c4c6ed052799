/**
 * Documents by name: what every protocol of the server does to them, told of no protocol.
 *
 * <p>{@link io.caravan.server.document.DocumentService} puts the store and its catalog together. A change's way: the service
 * locks the names, {@link io.caravan.server.document.EditedDocument} holds the change to what the document is (closed, JSON,
 * needed by forks, expired), and one batch takes values and {@link io.caravan.server.document.DocumentAttributes} together.
 * {@link io.caravan.server.document.CreationWrite} and {@link io.caravan.server.document.AdditionWrite} are the rules of the
 * Durable Streams protocol, <a href="https://github.com/durable-streams/durable-streams">github.com/durable-streams</a>.
 */
@NullMarked
package io.caravan.server.document;

import org.jspecify.annotations.NullMarked;
