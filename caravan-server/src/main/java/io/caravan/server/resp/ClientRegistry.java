package io.caravan.server.resp;

import java.util.Collection;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The sessions of all open connections, by their numbers. For any thread. */
final class ClientRegistry {
    private final AtomicLong lastId = new AtomicLong();
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();

    /** A number that no connection has had. */
    long newId() {
        return lastId.incrementAndGet();
    }

    void add(Session session) {
        sessions.put(session.id(), session);
    }

    void remove(Session session) {
        sessions.remove(session.id());
    }

    /** The sessions, the oldest first; those that come and go meanwhile may be among them or not. */
    Collection<Session> all() {
        return sessions.values();
    }
}
