/**
 * The spaces of a server. A space contains the settings for all documents whose names start with a prefix. {@link
 * io.caravan.server.document.space.Spaces} stores them in a list of the store, looks up the space of a document, and
 * counts the documents in each space. The document service applies the settings to each write.
 */
@NullMarked
package io.caravan.server.document.space;

import org.jspecify.annotations.NullMarked;
