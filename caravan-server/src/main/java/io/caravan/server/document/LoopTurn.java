package io.caravan.server.document;

import io.caravan.ListStore;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Groups the writes that an event loop performs in one turn, during which the loop reads from all connections with
 * input. The writes form a write group in each shard, and share an fsync, which the loop performs itself if no other
 * thread is writing. Used only on the loop's thread.
 */
final class LoopTurn {
    private final List<ListStore> groups;
    private final Executor loop;
    /** The open write group of each shard; null for a shard to which the loop has not written in this turn. */
    private final ListStore.@Nullable WriteGroup[] open;

    private int opened;

    /** @param loop runs tasks on its own thread after it has read from all connections */
    LoopTurn(List<ListStore> groups, Executor loop) {
        this.groups = groups;
        this.loop = loop;
        this.open = new ListStore.@Nullable WriteGroup[groups.size()];
    }

    /** Opens a write group in a shard, unless one is open; call this before each write to documents in the shard. */
    void willWrite(int group) {
        if (open[group] == null) {
            if (opened == 0) {
                loop.execute(this::end);
            }
            open[group] = groups.get(group).group();
            opened++;
        }
    }

    /** Closes the write groups. Several are flushed in parallel, by the threads of their stores. */
    private void end() {
        boolean one = opened == 1;
        opened = 0;
        for (int group = 0; group < open.length; group++) {
            ListStore.WriteGroup ended = open[group];
            open[group] = null;
            if (ended != null && one) {
                ended.closeAndFlush();
            } else if (ended != null) {
                ended.close();
            }
        }
    }
}
