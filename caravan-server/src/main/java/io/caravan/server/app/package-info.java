/**
 * The complete server, assembled from its components. {@link io.caravan.server.app.Server} connects a store to the
 * documents, the protocols, the archive, and the metrics, as configured by {@link io.caravan.server.app.ServerConfig}.
 * {@link io.caravan.server.app.WarmUp} warms the server up before clients connect, and {@link
 * io.caravan.server.app.Shutdown} stops it. {@link io.caravan.server.app.ClusterServer} runs one server for each role
 * of a cluster node.
 */
@NullMarked
package io.caravan.server.app;

import org.jspecify.annotations.NullMarked;
