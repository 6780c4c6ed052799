/**
 * Measures a cluster of three nodes, each in its own process on this machine, and, for comparison, a single server and
 * Redis with two replicas: {@link io.caravan.bench.cluster.ClusterBenchCommand}.
 */
@NullMarked
package io.caravan.bench.cluster;

import org.jspecify.annotations.NullMarked;
