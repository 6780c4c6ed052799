package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.FatalErrors;
import io.caravan.server.protocol.http.EventStream.Events;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The event streams that wait for the same read. Their turns run one after the other on a reading thread: the first one
 * reads the events, and all of them send these events. Streams can join until the first turn begins, so that the events
 * contain every value that was durable when a stream joined.
 */
final class SharedEvents implements Runnable {
    private final Position position;
    private final HttpProtocol protocol;
    private final List<Runnable> turns = new ArrayList<>();
    private boolean begun;
    private @Nullable Events events;

    /** Everything that determines the events that a client receives next. */
    record Position(
            DocumentService documents,
            DocumentName name,
            long documentId,
            long next,
            @Nullable String cursor) {}

    private SharedEvents(Position position, HttpProtocol protocol) {
        this.position = position;
        this.protocol = protocol;
    }

    static SharedEvents at(Position position, HttpProtocol protocol) {
        return protocol.sharedEvents.computeIfAbsent(position, absent -> new SharedEvents(absent, protocol));
    }

    /** Adds the turn of a stream. Returns false if the turns have begun. */
    synchronized boolean join(Runnable turn) {
        if (begun) {
            return false;
        }
        if (turns.isEmpty()) {
            protocol.readers.execute(this);
        }
        turns.add(turn);
        return true;
    }

    @Override
    public void run() {
        protocol.sharedEvents.remove(position);
        synchronized (this) {
            begun = true;
        }
        try {
            runTurns();
        } finally {
            if (events != null) {
                events.bytes().release();
            }
        }
    }

    /** Runs all turns, even if an {@link Error} ends one of them. Throws the first such error. */
    private void runTurns() {
        Error first = null;
        for (Runnable turn : turns) {
            try {
                turn.run();
            } catch (Error broken) {
                FatalErrors.report(broken);
                first = first == null ? broken : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Returns the events for a turn, which releases them. Returns null if the document no longer exists. */
    @Nullable
    Events events(EventStream stream) {
        if (events == null) {
            events = stream.read();
        }
        return events == null ? null : events.share(turns.size());
    }
}
