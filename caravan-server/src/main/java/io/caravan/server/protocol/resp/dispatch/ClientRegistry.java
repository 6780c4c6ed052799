package io.caravan.server.protocol.resp.dispatch;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The sessions of all open connections, by number. Thread-safe. */
public final class ClientRegistry {
    private final AtomicLong lastId = new AtomicLong();
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();
    private final Map<Session, Runnable> closers = new ConcurrentHashMap<>();

    /** Returns a unique number for a new connection. */
    public long newId() {
        return lastId.incrementAndGet();
    }

    /**
     * Adds a session.
     *
     * @param closer closes the connection, on any thread
     */
    public void add(Session session, Runnable closer) {
        closers.put(session, closer);
        sessions.put(session.id(), session);
    }

    /** Closes a connection, if it is still open. */
    public void close(Session session) {
        closers.getOrDefault(session, () -> {}).run();
    }

    public void remove(Session session) {
        sessions.remove(session.id());
        closers.remove(session);
    }

    /**
     * Returns the sessions, oldest first. The result may or may not include connections that open or close while it is
     * used.
     */
    public Collection<Session> all() {
        return sessions.values();
    }
}
