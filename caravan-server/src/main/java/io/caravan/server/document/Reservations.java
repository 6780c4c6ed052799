package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Tracks the names that are reserved for a write while it is being prepared. Other writes to these names are deferred,
 * without blocking a thread, so that they cannot overtake that write indefinitely. Reservations only ensure progress;
 * the locks on the names ensure consistency.
 */
final class Reservations {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    /** The deferred writes, by the reserved name for which they wait. */
    private final Map<DocumentName, List<Runnable>> waiting = new HashMap<>();
    /** Whether any names are reserved. If none are, writes need not acquire the lock. */
    private volatile boolean any;

    /** Whether any names are reserved. */
    boolean any() {
        return any;
    }

    /** Defers a write if any of its names is reserved. Returns whether the write was deferred. */
    boolean defer(Collection<DocumentName> names, Supplier<Runnable> change) {
        if (!any) {
            return false;
        }
        lock.lock();
        try {
            for (DocumentName name : names) {
                List<Runnable> others = waiting.get(name);
                if (others != null) {
                    others.add(change.get());
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Reserves names, after waiting until no other write has reserved any of them. */
    void reserve(Set<DocumentName> names) {
        lock.lock();
        try {
            while (names.stream().anyMatch(waiting::containsKey)) {
                released.awaitUninterruptibly();
            }
            names.forEach(name -> waiting.put(name, new ArrayList<>()));
            any = true;
        } finally {
            lock.unlock();
        }
    }

    /** Releases the names, and runs all writes deferred for them, even if one of these writes throws. */
    void release(Set<DocumentName> names) {
        List<Runnable> changes = new ArrayList<>();
        lock.lock();
        try {
            names.forEach(name -> changes.addAll(waiting.remove(name)));
            any = !waiting.isEmpty();
            released.signalAll();
        } finally {
            lock.unlock();
        }
        runAll(changes);
    }

    /** Runs all actions. If any of them throws, rethrows the first exception after the last action. */
    static void runAll(Collection<? extends Runnable> actions) {
        Throwable first = null;
        for (Runnable action : actions) {
            try {
                action.run();
            } catch (RuntimeException | Error problem) {
                if (first == null) {
                    first = problem;
                } else {
                    first.addSuppressed(problem);
                }
            }
        }
        if (first instanceof Error broken) {
            throw broken;
        }
        if (first instanceof RuntimeException problem) {
            throw problem;
        }
    }
}
