package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The actions that wait for writes to documents. */
final class ChangeListeners {
    private final ConcurrentMap<DocumentName, Set<Waiting>> waiting = new ConcurrentHashMap<>();

    /** See {@link DocumentService#onChange}. */
    Tail add(DocumentName name, Runnable action) {
        Waiting tail = new Waiting(name, action);
        waiting.compute(name, (key, others) -> {
            Set<Waiting> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(tail);
            return all;
        });
        return tail;
    }

    /** Runs the actions that wait for one of these documents: all of them, even if one throws. */
    void changed(Collection<DocumentName> names) {
        if (waiting.isEmpty()) {
            return;
        }
        List<Runnable> actions = new ArrayList<>();
        for (DocumentName name : names) {
            Set<Waiting> due = waiting.remove(name);
            if (due != null) {
                due.forEach(tail -> actions.add(tail.action));
            }
        }
        Reservations.runAll(actions);
    }

    /** Returns the number of documents for which actions wait. */
    int documents() {
        return waiting.size();
    }

    private final class Waiting implements Tail {
        private final DocumentName name;
        private final Runnable action;

        Waiting(DocumentName name, Runnable action) {
            this.name = name;
            this.action = action;
        }

        @Override
        public void close() {
            waiting.computeIfPresent(name, (key, others) -> {
                others.remove(this);
                return others.isEmpty() ? null : others;
            });
        }
    }
}
