package io.caravan.engine;

import java.util.ArrayList;
import java.util.List;

/** Determines whether a write would have to wait, and runs the waiting actions once a write could proceed. */
final class Writability {
    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;

    /** Actions to run once the store is writable. Guarded by the store's lock. */
    private List<Runnable> actions = new ArrayList<>();

    Writability(StoreState state, CommitQueue queue, HeapSpace space) {
        this.state = state;
        this.queue = queue;
        this.space = space;
    }

    /** Whether a write could proceed without waiting; see {@link io.caravan.ListStore#writable()}. */
    boolean writable() {
        return state.locked(() -> {
            state.checkOpen();
            return writableNow();
        });
    }

    private boolean writableNow() {
        return state.failure() != null || !state.lacksSpace() && queue.writable() && space.writable();
    }

    /** Runs the action once the store is writable; see {@link io.caravan.ListStore#onWritable}. */
    void onWritable(Runnable action) {
        boolean now = state.locked(() -> {
            state.checkOpen();
            boolean writable = writableNow();
            if (!writable) {
                actions.add(action);
                requestSpace();
            }
            return writable;
        });
        if (now) {
            action.run();
        }
    }

    /**
     * Requests a flush or fsync if the actions are waiting for one. Without this request, the store might never become
     * writable.
     */
    private void requestSpace() {
        if (!queue.active().roomy()) {
            queue.requireFlush();
        }
        if (!space.writable()) {
            space.requireReclaim();
        }
    }

    /** Runs the waiting actions if the store is writable. */
    void runActions() {
        run(false);
    }

    /** Runs the waiting actions of a closed store, so that the code that registered them is notified. */
    void runActionsOfClosed() {
        run(true);
    }

    private void run(boolean closed) {
        List<Runnable> taken = state.locked(() -> {
            if (actions.isEmpty()) {
                return List.of();
            }
            if (!closed && !writableNow()) {
                requestSpace();
                return List.of();
            }
            List<Runnable> all = actions;
            actions = new ArrayList<>();
            return all;
        });
        taken.forEach(action -> CallbackRunner.run("An action that waited for writability", action));
    }
}
