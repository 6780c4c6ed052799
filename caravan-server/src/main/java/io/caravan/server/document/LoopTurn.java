package io.caravan.server.document;

import io.caravan.ListStore;
import io.caravan.ListStore.WriteGroup;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * Groups the writes that an event loop performs in one turn, during which the loop reads from all connections with
 * input. The writes form a write group in each shard, and share an fsync, which the loop performs itself if no other
 * thread is writing. Used only on the loop's thread.
 */
final class LoopTurn {
    private final Executor loop;
    /** The open write groups of the shards to which the loop has written in this turn. */
    private final Map<ListStore, WriteGroup> open = new HashMap<>();

    /** @param loop runs tasks on its own thread after it has read from all connections */
    LoopTurn(Executor loop) {
        this.loop = loop;
    }

    /** Opens a write group in a shard, unless one is open; call this before each write to documents in the shard. */
    void willWrite(ListStore shard) {
        if (open.isEmpty()) {
            loop.execute(this::end);
        }
        open.computeIfAbsent(shard, ListStore::group);
    }

    /** Closes the write groups. Several are flushed in parallel, by the threads of their stores. */
    private void end() {
        List<WriteGroup> ended = List.copyOf(open.values());
        open.clear();
        ended.forEach(ended.size() == 1 ? WriteGroup::closeAndFlush : WriteGroup::close);
    }
}
