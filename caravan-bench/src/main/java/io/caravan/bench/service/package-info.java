/**
 * Measures a live service, second by second. Deltas (appended changes to documents) arrive at a fixed rate from the
 * first moment of a fresh server, regardless of the server's replies, and each delta is timed from when it was due.
 * Caravan's first design was measured in this way, at 16,000 deltas per second.
 *
 * <p>{@link io.caravan.bench.service.ServiceCommand} runs the load over RESP and over HTTP ({@link
 * io.caravan.bench.service.Front}), on each server in turn ({@link io.caravan.bench.service.LiveService}). It shows all
 * runs, each second of the median run, and pictures of both.
 */
@NullMarked
package io.caravan.bench.service;

import org.jspecify.annotations.NullMarked;
