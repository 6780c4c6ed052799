/**
 * The drill of a lost host: a server is killed under load and its disk deleted, and what a restore from the archive brings
 * back is compared with all that clients were told.
 *
 * <p>{@link io.caravan.bench.hostloss.HostLossMain} runs rounds of {@link io.caravan.bench.hostloss.HostLossDrill}. In a
 * round, the {@link io.caravan.bench.hostloss.Load}'s connections write to documents of their own, one request after the
 * other, and enter in each document's {@link io.caravan.bench.hostloss.DocumentHistory} what they ask and when they are
 * answered. What is found after the restore ({@link io.caravan.bench.hostloss.FoundDocument}) must be what the document was
 * at one moment of its history, and not before the last one that the archive must have.
 */
@NullMarked
package io.caravan.bench.hostloss;

import org.jspecify.annotations.NullMarked;
