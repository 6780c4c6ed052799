package io.caravan.server.document;

import io.caravan.ListStore;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The changes that an event loop makes in one turn, in which it reads from all connections with input: they are a
 * group, and share a force, which the loop makes itself when nobody else writes. Used only on the loop.
 */
final class LoopTurn {
    private final ListStore store;
    private final Executor loop;
    private ListStore.@Nullable Group group;

    /**
     * Makes the turns of a loop.
     *
     * @param loop runs tasks of its own thread after it has read from all connections
     */
    LoopTurn(ListStore store, Executor loop) {
        this.store = store;
        this.loop = loop;
    }

    /** Call this before each change. */
    void willWrite() {
        if (group == null) {
            loop.execute(this::end);
            group = store.group();
        }
    }

    private void end() {
        ListStore.Group ended = Objects.requireNonNull(group);
        group = null;
        ended.closeAndFlush();
    }
}
