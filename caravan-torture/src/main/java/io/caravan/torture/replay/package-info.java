/**
 * Replays recorded editing sessions as a document server would see them.
 *
 * <p>For each recorded session ({@link io.caravan.torture.replay.Trace}), the {@link io.caravan.torture.replay.Player}
 * appends each transaction to a document in a {@link io.caravan.torture.replay.Target}. It also regularly appends a
 * snapshot of the text, which replaces everything before it. At the end, and after each kill, the text is rebuilt from
 * the retained entries alone ({@link io.caravan.torture.replay.ReplayedDocument}) and compared.
 */
@NullMarked
package io.caravan.torture.replay;

import org.jspecify.annotations.NullMarked;
