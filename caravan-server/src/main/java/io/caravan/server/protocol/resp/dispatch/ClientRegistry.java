package io.caravan.server.protocol.resp.dispatch;

import java.util.Collection;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The sessions of all open connections, by their numbers. For any thread. */
public final class ClientRegistry {
    private final AtomicLong lastId = new AtomicLong();
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();

    /** A number that no connection has had. */
    public long newId() {
        return lastId.incrementAndGet();
    }

    public void add(Session session) {
        sessions.put(session.id(), session);
    }

    public void remove(Session session) {
        sessions.remove(session.id());
    }

    /** The sessions, the oldest first; those that come and go meanwhile may be among them or not. */
    public Collection<Session> all() {
        return sessions.values();
    }
}
