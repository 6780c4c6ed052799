package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
    /** The deferred writes that the current thread is about to run; null while it runs none. */
    private final ThreadLocal<@Nullable Queue<Runnable>> running = new ThreadLocal<>();
    /** Whether any names are reserved. If none are, writes need not acquire the lock. Changed under the lock. */
    volatile boolean any;

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

    /**
     * Releases the names, and runs all writes deferred for them, even if one of these writes throws. A deferred write
     * may itself reserve and release names. The call that runs it then also runs the writes deferred for these names,
     * so that the stack does not grow with their number.
     */
    void release(Set<DocumentName> names) {
        Queue<Runnable> changes = new ArrayDeque<>();
        lock.lock();
        try {
            names.forEach(name -> changes.addAll(waiting.remove(name)));
            any = !waiting.isEmpty();
            released.signalAll();
        } finally {
            lock.unlock();
        }
        Queue<Runnable> current = running.get();
        if (current != null) {
            current.addAll(changes);
            return;
        }
        running.set(changes);
        try {
            runAll(changes);
        } finally {
            running.remove();
        }
    }

    /**
     * Runs and removes all actions, and those that they add. If any of them throws, rethrows the first exception after
     * the last action.
     */
    static void runAll(Queue<Runnable> actions) {
        Throwable first = null;
        for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
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
