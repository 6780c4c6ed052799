package io.caravan.cluster;

import static io.caravan.cluster.RaftFrameReplicatorTest.frame;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.StoreCalls;
import io.caravan.testing.simulator.Interleaver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Simulates the end of a term of leadership while the flusher is committing frames. The group has committed some of the
 * frames, and this node applies these. The node learns late that a proposal has failed, or that another node leads.
 */
final class TermInterleavings {
    private static final int FRAMES = 4;

    private final Interleaver threads;
    /** The frames that the group has committed, and that the next leader therefore has. */
    private final List<ByteBuffer> group = new ArrayList<>();

    private final List<Long> acknowledged = new ArrayList<>();
    private final RaftFrameReplicator term = new RaftFrameReplicator(this::propose, StoreCalls::copyOf);
    private int applied;
    private int appliedHere;
    private boolean over;

    private TermInterleavings(Interleaver threads) {
        this.threads = threads;
    }

    static void explore(long seed) {
        try (Interleaver threads = new Interleaver(seed)) {
            new TermInterleavings(threads).run();
        }
    }

    private void propose(byte[] entry, CompletableFuture<Void> commit) {
        boolean lost = threads.random().nextInt(8) == 0;
        boolean replies = threads.random().nextBoolean();
        threads.thread("Raft", () -> {
            Interleaver.point();
            if (lost || over) {
                over = true;
                // The reply may also be lost, but the node learns of the end of the term.
                if (replies) {
                    commit.completeExceptionally(new IOException("not committed"));
                }
            } else {
                group.add(ByteBuffer.wrap(entry));
            }
        });
    }

    private void run() {
        threads.thread("flusher", () -> {
            try {
                for (long lsn = 1; lsn <= FRAMES; lsn++) {
                    term.commit(frame(lsn));
                    acknowledged.add(lsn);
                    assertThat(group).contains(frame(lsn));
                }
            } catch (IOException termIsOver) {
                // The store must contain the frames acknowledged so far.
            }
        });
        threads.worker("applier", () -> applied < group.size(), () -> {
            if (term.committed(group.get(applied++))) {
                appliedHere = applied;
            }
        });
        threads.thread("end", () -> {
            Interleaver.point();
            over = true;
            term.abandon(new IOException("another node leads"));
        });
        threads.run();
        ByteBuffer last = term.lastCommitted();
        assertThat(last).isEqualTo(appliedHere == 0 ? null : group.get(appliedHere - 1));
        assertThat(acknowledged.size()).isLessThanOrEqualTo(appliedHere);
        assertThat(term.isAbandoned()).isTrue();
    }
}
