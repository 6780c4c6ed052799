package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.FatalErrors;
import io.caravan.server.protocol.http.EventStream.Events;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
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

    /** Adds the turn of a stream. Calls {@code joined} before the turn can begin. */
    static SharedEvents join(Position position, HttpProtocol protocol, Consumer<SharedEvents> joined, Runnable turn) {
        return protocol.sharedEvents.compute(position, (at, waiting) -> {
            SharedEvents shared = waiting == null ? new SharedEvents(at, protocol) : waiting;
            joined.accept(shared);
            if (shared.turns.isEmpty()) {
                protocol.readers.execute(shared);
            }
            shared.turns.add(turn);
            return shared;
        });
    }

    @Override
    public void run() {
        // From now on, no stream can join.
        protocol.sharedEvents.remove(position);
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
