/**
 * Torture of a store that is embedded in child processes. {@link io.caravan.torture.embedded.EmbeddedWorker}s in the
 * child ({@link io.caravan.torture.embedded.TortureChild}) write at random. Over a socket, they report each {@link
 * io.caravan.torture.model.Intent} before it is submitted, and each acknowledgment. The model uses sequences.
 */
@NullMarked
package io.caravan.torture.embedded;

import org.jspecify.annotations.NullMarked;
