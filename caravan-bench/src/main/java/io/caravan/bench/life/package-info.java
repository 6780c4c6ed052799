/**
 * Measures what a document server's life costs the disk: many small changes, and snapshots that let everything before
 * them be trimmed.
 *
 * <p>{@link io.caravan.bench.life.DocumentLife} is that life, generated from a seed. {@link
 * io.caravan.bench.life.LifeRun} has a store live it and divides what reached the disk ({@link
 * io.caravan.bench.life.DiskWrites}) by what was appended. {@link io.caravan.bench.life.SameLife} puts Caravan beside
 * its peers, {@link io.caravan.bench.life.Generations} varies how much log Caravan lets come between two checkpoints.
 */
@NullMarked
package io.caravan.bench.life;

import org.jspecify.annotations.NullMarked;
