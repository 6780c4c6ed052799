package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Tail;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One wait for a document to change. It begins before the document is looked at, so that no change is missed; only when
 * there was nothing to see is it {@linkplain #leave() left}, and from then on a change wakes the reading, once.
 */
final class ChangeWait {
    private enum State {
        LOOKING,
        LEFT,
        OVER
    }

    private final DocumentService documents;
    private final DocumentName name;
    private final Runnable woken;
    private final AtomicReference<State> state = new AtomicReference<>(State.LOOKING);
    private @Nullable Tail tail;

    /**
     * A wait that has not begun.
     *
     * @param woken is run on the thread that wakes
     */
    ChangeWait(DocumentService documents, DocumentName name, Runnable woken) {
        this.documents = documents;
        this.name = name;
        this.woken = woken;
    }

    /** Begins to take notice of changes. */
    void begin() {
        tail = documents.onChange(name, this::wake);
    }

    /** Leaves the wait to whoever wakes it; returns false when that has happened already, and nobody will. */
    boolean leave() {
        boolean left = state.compareAndSet(State.LOOKING, State.LEFT);
        if (!left) {
            closeTail();
        }
        return left;
    }

    /** Ends the wait; on any thread. */
    void wake() {
        if (state.getAndSet(State.OVER) == State.LEFT) {
            closeTail();
            woken.run();
        }
    }

    /** Ends a wait that was not left. */
    void cancel() {
        state.set(State.OVER);
        closeTail();
    }

    private void closeTail() {
        if (tail != null) {
            tail.close();
        }
    }
}
