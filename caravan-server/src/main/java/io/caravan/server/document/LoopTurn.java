package io.caravan.server.document;

import io.caravan.ListStore;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The changes that an event loop makes in one turn, in which it reads from all connections with input: they are a
 * group, and share a force, which the loop makes itself when nobody else writes. Used only on the loop.
 */
final class LoopTurn {
    private final List<ListStore> groups;
    private final Executor loop;
    /** By the number of the store's group; null where nothing was written in this turn. */
    private final ListStore.@Nullable Group[] open;
    /** How many there are. */
    private int opened;

    /**
     * Makes the turns of a loop.
     *
     * @param groups those of the store
     * @param loop runs tasks of its own thread after it has read from all connections
     */
    LoopTurn(List<ListStore> groups, Executor loop) {
        this.groups = groups;
        this.loop = loop;
        this.open = new ListStore.@Nullable Group[groups.size()];
    }

    /** Call this before each change of documents of a group. */
    void willWrite(int group) {
        if (open[group] == null) {
            if (opened == 0) {
                loop.execute(this::end);
            }
            open[group] = groups.get(group).group();
            opened++;
        }
    }

    /** Changes of several groups are flushed side by side by the stores' threads, and not one after the other here. */
    private void end() {
        boolean one = opened == 1;
        opened = 0;
        for (int group = 0; group < open.length; group++) {
            ListStore.Group ended = open[group];
            open[group] = null;
            if (ended != null && one) {
                ended.closeAndFlush();
            } else if (ended != null) {
                ended.close();
            }
        }
    }
}
