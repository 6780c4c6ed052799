/**
 * The engine beside the machine's own limits: how fast durable appends go, and how fast the same bytes can be written
 * and forced by hand at the same batch sizes.
 *
 * <p>{@link io.caravan.bench.engine.EngineCommand} runs each measurement in turn, again and again, so that whatever else
 * the machine does falls on all of them alike, and shows medians with the least and the greatest.
 */
@NullMarked
package io.caravan.bench.engine;

import org.jspecify.annotations.NullMarked;
