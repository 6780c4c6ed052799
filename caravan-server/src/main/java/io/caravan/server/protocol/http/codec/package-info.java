/**
 * HTTP messages: the classes that decode and check requests, and encode responses and problems, without access to
 * documents.
 */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
