/**
 * Reads of a document, a bounded slice at a time: catch-up, long polls and event streams.
 */
@NullMarked
package io.caravan.server.protocol.http.read;

import org.jspecify.annotations.NullMarked;
