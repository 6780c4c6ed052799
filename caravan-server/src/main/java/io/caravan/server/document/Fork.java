package io.caravan.server.document;

import io.caravan.catalog.DocumentName;

/**
 * The point at which a document was forked from another one. The fork shares the source's values before {@code
 * sequence}, which stay in the source's list. The fork's own values start at {@code sequence}. A document that has
 * forks cannot be trimmed.
 *
 * @param sequence sequence of the first value that the fork does not share
 * @param part requested additional data: the number of messages of a JSON document, which {@code sequence} already
 *     includes, or the number of bytes of the next value, which then form the fork's first own value
 * @param firstSequence sequence of the first shared value that the fork retains
 * @param source the source's name
 */
record Fork(long sequence, long part, long firstSequence, DocumentName source) {}
