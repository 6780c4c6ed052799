package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who waits to take values of which documents, in the order in which they came: only the first of a document's queue
 * may take from it, and whoever becomes the first is woken. Thread-safe.
 */
final class PopQueues {
    /** Names that all clients together may wait for, one that several wait for counted for each of them. */
    static final int MAX_PLACES = 65_536;

    private final Map<DocumentName, LinkedHashSet<Runnable>> queues = new HashMap<>();
    private int places;

    /**
     * Takes a place at the end of the queue of each of these names.
     *
     * @param waiter is run, on any thread, when it becomes the first of one of them after it was not
     * @throws CommandException when there are no places left; it then has none
     */
    synchronized void join(Collection<DocumentName> names, Runnable waiter) {
        if (places + names.size() > MAX_PLACES) {
            throw new CommandException("ERR clients wait for " + places + " names already, and may for " + MAX_PLACES
                    + "; try again later, or ask for fewer");
        }
        places += names.size();
        names.forEach(name ->
                queues.computeIfAbsent(name, queue -> new LinkedHashSet<>()).add(waiter));
    }

    synchronized int places() {
        return places;
    }

    /** Those of the names whose queue the waiter is the first of. */
    synchronized List<DocumentName> first(Collection<DocumentName> names, Runnable waiter) {
        return names.stream().filter(name -> first(name) == waiter).toList();
    }

    private @Nullable Runnable first(DocumentName name) {
        LinkedHashSet<Runnable> queue = queues.get(name);
        return queue == null ? null : queue.iterator().next();
    }

    /** Gives up the waiter's places, if it has any, and wakes those that were next. */
    void leave(Collection<DocumentName> names, Runnable waiter) {
        List<Runnable> next = new ArrayList<>();
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
