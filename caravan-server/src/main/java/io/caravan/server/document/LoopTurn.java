package io.caravan.server.document;

import java.util.concurrent.Executor;

/**
 * The changes that an event loop makes in one turn, in which it reads from all connections that have something: they are a
 * group, and share a force. The loop's alone.
 */
public final class LoopTurn {
    private final DocumentService documents;
    private final Executor loop;
    private boolean begun;

    /**
     * Turns of this loop.
     *
     * @param loop runs what it is handed by its own thread after it has read from all connections
     */
    public LoopTurn(DocumentService documents, Executor loop) {
        this.documents = documents;
        this.loop = loop;
    }

    /** A change follows. */
    public void willWrite() {
        if (!begun) {
            loop.execute(this::end);
            begun = true;
            documents.beginGroup();
        }
    }

    private void end() {
        begun = false;
        documents.endGroup();
    }
}
