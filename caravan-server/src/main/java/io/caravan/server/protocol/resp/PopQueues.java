package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Queues the waiters for the values of each document, in order of arrival. Only the first waiter in a queue may take
 * values of the document. A waiter that becomes the first in a queue is woken. Thread-safe.
 */
final class PopQueues {
    /** Maximum total number of names for which clients may wait. A name counts once for each waiter. */
    static final int MAX_PLACES = 65_536;

    private final Map<DocumentName, LinkedHashSet<Runnable>> queues = new HashMap<>();
    private int places;

    /**
     * Adds a waiter to the end of the queue of each of these names. It runs, on any thread, when other waiters leave
     * and it becomes the first of a queue. Throws a {@link CommandException} without adding it if {@link #MAX_PLACES}
     * would be exceeded.
     */
    synchronized void join(Collection<DocumentName> names, Runnable waiter) {
        if (places + names.size() > MAX_PLACES) {
            throw new CommandException("ERR clients wait for " + places + " names, and the limit is " + MAX_PLACES
                    + "; try again later, or with fewer names");
        }
        places += names.size();
        names.forEach(name ->
                queues.computeIfAbsent(name, queue -> new LinkedHashSet<>()).add(waiter));
    }

    synchronized int places() {
        return places;
    }

    /** Returns those names for which the waiter is the first in the queue. */
    synchronized List<DocumentName> first(Collection<DocumentName> names, Runnable waiter) {
        return names.stream().filter(name -> first(name) == waiter).toList();
    }

    private @Nullable Runnable first(DocumentName name) {
        LinkedHashSet<Runnable> queue = queues.get(name);
        return queue == null ? null : queue.iterator().next();
    }

    /** Removes the waiter from the queues of these names, and wakes each waiter that becomes the first in a queue. */
    void leave(Collection<DocumentName> names, Runnable waiter) {
        Set<Runnable> next = new LinkedHashSet<>();
        synchronized (this) {
            for (DocumentName name : names) {
                boolean wasFirst = first(name) == waiter;
                remove(name, waiter);
                Runnable first = first(name);
                if (wasFirst && first != null) {
                    next.add(first);
                }
            }
        }
        next.forEach(Runnable::run);
    }

    private void remove(DocumentName name, Runnable waiter) {
        LinkedHashSet<Runnable> queue = queues.get(name);
        if (queue != null && queue.remove(waiter)) {
            places--;
            if (queue.isEmpty()) {
                queues.remove(name);
            }
        }
    }
}
