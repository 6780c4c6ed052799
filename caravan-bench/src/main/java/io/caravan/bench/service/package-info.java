/**
 * A live service, second by second: deltas come at a fixed rate from the first moment of a fresh server on, whatever it
 * does, and each is timed from when it was due. It is how the design was first measured, at 16,000 deltas a second.
 *
 * <p>{@link io.caravan.bench.service.ServiceCommand} does it over RESP and over HTTP ({@link
 * io.caravan.bench.service.Front}), to each server in turn ({@link io.caravan.bench.service.LiveService}), and shows all
 * runs, each second of the median one, and pictures of both.
 */
@NullMarked
package io.caravan.bench.service;

import org.jspecify.annotations.NullMarked;
