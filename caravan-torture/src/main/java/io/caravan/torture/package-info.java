/**
 * A harness that kills processes with SIGKILL while they write to a store, and then checks the contents of the store.
 *
 * <p>{@link io.caravan.torture.TortureMain} runs rounds ({@code round}) on a {@link
 * io.caravan.torture.round.TortureSubject}: a store embedded in child processes ({@code embedded}), or the server
 * ({@code server}). Both are checked with {@code model}. A Raft group ({@code group}) has its own harness. {@code disk}
 * provides volumes that can be filled.
 *
 * <p>{@code hostloss} destroys hosts and restores them from the archive, and {@code replay} replays recorded editing
 * sessions.
 */
@NullMarked
package io.caravan.torture;

import org.jspecify.annotations.NullMarked;
