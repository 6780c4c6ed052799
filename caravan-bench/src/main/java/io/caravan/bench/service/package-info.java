/**
 * A live service, second by second: deltas arrive at a fixed rate from the first moment of a fresh server, regardless
 * of its replies, and each is timed from when it was due. The design was first measured this way, at 16,000 deltas a
 * second.
 *
 * <p>{@link io.caravan.bench.service.ServiceCommand} runs the load over RESP and over HTTP ({@link
 * io.caravan.bench.service.Front}), on each server in turn ({@link io.caravan.bench.service.LiveService}), and shows
 * all runs, each second of the median one, and pictures of both.
 */
@NullMarked
package io.caravan.bench.service;

import org.jspecify.annotations.NullMarked;
