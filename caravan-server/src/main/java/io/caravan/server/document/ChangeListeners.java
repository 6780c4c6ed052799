package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Tracks the actions that are registered to run after the next write to a document. */
final class ChangeListeners {
    private final ConcurrentMap<DocumentName, Set<Subscription>> waiting = new ConcurrentHashMap<>();

    /** Registers an action; see {@link DocumentService#onChange}. */
    ChangeSubscription add(DocumentName name, Runnable action) {
        Subscription subscription = new Subscription(name, action);
        waiting.compute(name, (key, others) -> {
            Set<Subscription> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(subscription);
            return all;
        });
        return subscription;
    }

    /** Runs all actions that are registered for any of these documents, even if one of the actions throws. */
    void changed(Collection<DocumentName> names) {
        if (waiting.isEmpty()) {
            return;
        }
        List<Runnable> actions = new ArrayList<>();
        for (DocumentName name : names) {
            Set<Subscription> due = waiting.remove(name);
            if (due != null) {
                due.forEach(subscription -> actions.add(subscription.action));
            }
        }
        Reservations.runAll(actions);
    }

    /** Returns the number of documents for which actions are registered. */
    int documents() {
        return waiting.size();
    }

    private final class Subscription implements ChangeSubscription {
        private final DocumentName name;
        private final Runnable action;

        Subscription(DocumentName name, Runnable action) {
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
