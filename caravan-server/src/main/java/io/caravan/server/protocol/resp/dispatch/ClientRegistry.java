package io.caravan.server.protocol.resp.dispatch;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The sessions of all open connections, by their numbers. For any thread. */
public final class ClientRegistry {
    private final AtomicLong lastId = new AtomicLong();
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();
    private final Map<Long, Runnable> closers = new ConcurrentHashMap<>();

    /** A number that no connection has had. */
    public long newId() {
        return lastId.incrementAndGet();
    }

    /**
     * Adds a session.
     *
     * @param closer closes its connection, on any thread
     */
    public void add(Session session, Runnable closer) {
        closers.put(session.id(), closer);
        sessions.put(session.id(), session);
    }

    /** Closes a connection, if it is still open. */
    public void close(Session session) {
        Runnable closer = closers.get(session.id());
        if (closer != null) {
            closer.run();
        }
    }

    public void remove(Session session) {
        sessions.remove(session.id());
        closers.remove(session.id());
    }

    /** The sessions, the oldest first; those that come and go meanwhile may be among them or not. */
    public Collection<Session> all() {
        return sessions.values();
    }
}
