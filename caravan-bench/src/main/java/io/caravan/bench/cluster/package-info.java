/**
 * Measures a cluster of three hosts, each in a process of its own on this machine, beside one host alone and beside Redis
 * with two replicas: {@link io.caravan.bench.cluster.ClusterCommand}.
 */
@NullMarked
package io.caravan.bench.cluster;

import org.jspecify.annotations.NullMarked;
