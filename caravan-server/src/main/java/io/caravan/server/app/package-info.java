/**
 * The server put together. {@link io.caravan.server.app.Server} wires a store to the documents, the protocols, the
 * archive and the metrics, as {@link io.caravan.server.app.ServerConfig} says; {@link io.caravan.server.app.WarmUp}
 * runs it once before clients come, {@link io.caravan.server.app.Shutdown} stops it. {@link io.caravan.server.app.ClusterServer}
 * has one for each role that a host of a cluster takes.
 */
@NullMarked
package io.caravan.server.app;

import org.jspecify.annotations.NullMarked;
