/**
 * Spaces: settings for all documents whose names begin with a prefix. {@link
 * io.caravan.server.document.space.Spaces} keeps them in a list of the store, finds the one of a document, and counts
 * what is in each. What a setting does to a change is decided by the document service.
 */
@NullMarked
package io.caravan.server.document.space;

import org.jspecify.annotations.NullMarked;
