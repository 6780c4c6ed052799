package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Tracks the actions that are registered to run after the next write to a document. */
final class ChangeListeners {
    /** The registered actions of each document, each with a key that only its registration has. */
    private final ConcurrentMap<DocumentName, Map<Object, Runnable>> waiting = new ConcurrentHashMap<>();

    Runnable add(DocumentName name, Runnable action) {
        Object key = new Object();
        waiting.compute(name, (same, others) -> {
            Map<Object, Runnable> all = others == null ? new ConcurrentHashMap<>() : others;
            all.put(key, action);
            return all;
        });
        return () -> waiting.computeIfPresent(name, (same, others) -> {
            others.remove(key);
            return others.isEmpty() ? null : others;
        });
    }

    /** Runs all actions that are registered for any of these documents, even if one of the actions throws. */
    void changed(Collection<DocumentName> names) {
        if (waiting.isEmpty()) {
            return;
        }
        List<Runnable> actions = new ArrayList<>();
        for (DocumentName name : names) {
            Map<Object, Runnable> due = waiting.remove(name);
            if (due != null) {
                actions.addAll(due.values());
            }
        }
        Reservations.runAll(actions);
    }

    int documents() {
        return waiting.size();
    }
}
