package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Sees to it that one thread at a time brings a document from the archive, from its look at the manifest to the document's
 * being there: so what was deleted meanwhile cannot come back. Names that nobody holds take no memory. No lock of the store
 * is held while one waits here.
 */
final class NameLocks {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    private final Set<DocumentName> held = new HashSet<>();

    /** Runs the action while nobody else runs one with the same name; not to be nested. */
    <T> T with(DocumentName name, Supplier<T> action) {
        acquire(name);
        try {
            return action.get();
        } finally {
            release(name);
        }
    }

    private void acquire(DocumentName name) {
        lock.lock();
        try {
            while (!held.add(name)) {
                released.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void release(DocumentName name) {
        lock.lock();
        try {
            held.remove(name);
            released.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
