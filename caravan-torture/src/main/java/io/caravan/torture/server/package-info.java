/**
 * Torture of the server. {@link io.caravan.torture.server.RespWorker}s in the supervisor are its clients, and record
 * their own requests and replies. The model uses the positions of RESP.
 */
@NullMarked
package io.caravan.torture.server;

import org.jspecify.annotations.NullMarked;
