/**
 * Replays recorded editing sessions as a document server would see them.
 *
 * <p>For each recorded session ({@link io.caravan.bench.replay.Trace}), the {@link io.caravan.bench.replay.Player}
 * appends each transaction to a document in a {@link io.caravan.bench.replay.Target}, and regularly a snapshot of the text, which replaces everything before it. At the end, and after each kill, the text
 * is rebuilt from the retained entries alone ({@link io.caravan.bench.replay.Document}) and compared.
 */
@NullMarked
package io.caravan.bench.replay;

import org.jspecify.annotations.NullMarked;
