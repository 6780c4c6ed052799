/**
 * A harness that kills processes with SIGKILL while they write to a store, and then checks the contents of the store.
 *
 * <p>{@link io.caravan.torture.TortureMain} runs rounds of {@link io.caravan.torture.Torture}, the supervisor, on a
 * {@link io.caravan.torture.TortureSubject}: a store embedded in child processes, or the server. Each round starts a
 * {@link io.caravan.torture.TortureSession}, a process that works on the store, puts this process through {@link
 * io.caravan.torture.Hardships}, and ends it. The supervisor's {@link io.caravan.torture.Ledger} records all requests
 * and messages. A second session reads the contents of the store ({@link io.caravan.torture.Contents}), and the {@link
 * io.caravan.torture.Checker} checks them.
 *
 * <p>With an embedded store, {@link io.caravan.torture.EmbeddedWorker}s in the child ({@link
 * io.caravan.torture.TortureChild}) write at random. Over a socket, they report each {@link io.caravan.torture.Intent}
 * before it is submitted, and each acknowledgment. With the server, {@link io.caravan.torture.RespWorker}s in the
 * supervisor are its clients, and record their own requests and replies.
 *
 * <p>Each subject has a {@link io.caravan.torture.StoreModel}, which implements its contract in a few lines. The model
 * of the embedded store uses sequences; the model of the server uses the positions of RESP.
 *
 * <p>The verdict is exact because each list belongs to one worker, and a worker's intents reach the store in the order
 * in which they were recorded. The store also accepts and acknowledges in order. A crash therefore leaves a prefix of a
 * worker's intents in a round: all that were acknowledged or seen by a reader, and perhaps some that were in flight. If
 * intents may be rejected for lack of space, the workers wait for each result before the kill, because a rejection
 * without a result would leave a gap.
 *
 * <p>A Raft group has its own harness, {@link io.caravan.torture.GroupTorture}, because in a group, other changes may
 * follow a change whose outcome is unknown. {@link io.caravan.torture.ListHistory} therefore keeps all possible
 * contents of a list. Each {@link io.caravan.torture.GroupNodeProcess} is a process that makes the changes requested by
 * {@link io.caravan.torture.GroupWriter}s.
 *
 * <p>{@code hostloss} destroys hosts and restores them from the archive, and {@code replay} replays recorded editing
 * sessions.
 */
@NullMarked
package io.caravan.torture;

import org.jspecify.annotations.NullMarked;
