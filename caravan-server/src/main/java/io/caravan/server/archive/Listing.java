package io.caravan.server.archive;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStore.Listed;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The objects of a folder, one after the other, for whoever goes through two folders at a time: a thread lists, some pages
 * ahead. Close it to end the thread. For one thread.
 */
final class Listing implements AutoCloseable {
    private static final int PAGE = 1_000;
    private static final int PAGES_AHEAD = 4;

    private final BlockingQueue<Page> pages = new ArrayBlockingQueue<>(PAGES_AHEAD);
    private final Thread thread;
    private volatile boolean closed;
    private Iterator<Listed> page = List.<Listed>of().iterator();
    private boolean last;

    /** Some objects; the last page says whether there are no more, or why they could not be told. */
    private record Page(
            List<Listed> objects, boolean last, @Nullable Throwable problem) {}

    Listing(ObjectStore objects, String folder) {
        thread = new Thread(() -> list(objects, folder), "caravan-archive-list");
        thread.setDaemon(true);
        thread.start();
    }

    private void list(ObjectStore objects, String folder) {
        List<Listed> gathered = new ArrayList<>();
        Throwable problem = null;
        try {
            objects.list(folder, "", listed -> {
                gathered.add(listed);
                if (gathered.size() == PAGE) {
                    hand(new Page(List.copyOf(gathered), false, null));
                    gathered.clear();
                }
                return !closed;
            });
        } catch (RuntimeException | Error failed) {
            problem = failed;
        }
        hand(new Page(gathered, true, problem));
    }

    private void hand(Page next) {
        try {
            while (!closed && !pages.offer(next, 1, TimeUnit.SECONDS)) {
                // The other side is slow, or about to close this.
            }
        } catch (InterruptedException interrupted) {
            closed = true;
        }
    }

    /** The next object, or null when there is none. Throws what listing threw. */
    @Nullable
    Listed next() {
        while (!page.hasNext()) {
            if (last) {
                return null;
            }
            take();
        }
        return page.next();
    }

    private void take() {
        try {
            Page taken = pages.take();
            if (taken.problem() instanceof Error error) {
                throw error;
            }
            if (taken.problem() instanceof RuntimeException failed) {
                throw failed;
            }
            page = taken.objects().iterator();
            last = taken.last();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while an archive was listed", interrupted);
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
