/**
 * Documents by name: what every protocol of the server does to them, told of no protocol.
 *
 * <p>{@link io.caravan.server.document.DocumentService} puts the store and its catalog together.
 */
@NullMarked
package io.caravan.server.document;

import org.jspecify.annotations.NullMarked;
