package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DocumentService;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Restores all documents of an archive that are not deleted. What fails for one document is that document's fault, and
 * told of; the others are restored. What the store cannot do, or an archive that answers nothing any more, ends it all:
 * another restore to the same store goes on from there.
 *
 * <p><b>Threading.</b> The thread that calls {@link #run} lists manifests, page by page, and hands each to one of the
 * jobs' threads, which reads the document. The store writes many at a time, as they come; a thread of its own tells of
 * them. A bounded number of documents is under way, with a bounded number of bytes in memory.
 */
public final class WholeRestore {
    /** Documents that may be under way, from being listed to being told of. */
    private static final int MAX_UNDER_WAY = 2048;
    /** Bytes of values that may wait in memory, about. */
    private static final int MAX_WAITING_BYTES = 64 * 1024 * 1024;
    /** So many documents in a row that the archive did not give mean that it gives none. */
    private static final int MAX_UNANSWERED = 20;

    private final Archive archive;
    private final ManifestRestore restore;
    private final RestoreListener listener;
    private final RestoreProgress progress;
    private final ExecutorService jobs;
    private final ExecutorService teller =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("caravan-restored", true));
    private final Semaphore underWay = new Semaphore(MAX_UNDER_WAY);
    private final Semaphore waitingBytes = new Semaphore(MAX_WAITING_BYTES);
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicReference<@Nullable RuntimeException> end = new AtomicReference<>();

    /**
     * A restore that has not begun.
     *
     * @param documents the store's
     * @param jobs number of documents to read at a time
     * @param allowOlder whether a document whose latest generation is damaged is restored from an older one
     */
    public WholeRestore(
            Archive archive,
            DocumentService documents,
            int jobs,
            boolean allowOlder,
            RestoreListener listener,
            RestoreProgress progress) {
        this.archive = archive;
        this.restore = new ManifestRestore(this, archive, documents, allowOlder);
        this.listener = listener;
        this.progress = progress;
        this.jobs = Executors.newFixedThreadPool(jobs, new DefaultThreadFactory("caravan-restore", true));
    }

    /**
     * Restores; once. What was told of is durable.
     *
     * @throws CaravanException what has ended it before all documents were tried
     */
    public void run() {
        jobs.execute(this::count);
        try {
            archive.manifests("", this::begin);
        } catch (RuntimeException unlisted) {
            end(unlisted);
        }
        underWay.acquireUninterruptibly(MAX_UNDER_WAY);
        stopThreads();
        RuntimeException problem = end.get();
        if (problem != null) {
            throw problem;
        }
    }

    private boolean begin(String key) {
        underWay.acquireUninterruptibly();
        jobs.execute(() -> {
            try {
                restore.run(key);
            } catch (RuntimeException | Error bug) {
                failed(bug);
            }
        });
        return end.get() == null;
    }

    /** Lists are quick beside reading what they name, so that the total is soon known. */
    private void count() {
        AtomicLong count = new AtomicLong();
        try {
            archive.manifests("", key -> {
                count.incrementAndGet();
                return !jobs.isShutdown();
            });
            progress.total(count.get());
        } catch (CaravanException unlisted) {
            // The other list of the same keys is told of what is wrong; without this one the total stays unknown.
            return;
        }
    }

    private void stopThreads() {
        jobs.shutdown();
        teller.shutdown();
        try {
            jobs.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether nothing further should be begun. */
    boolean ended() {
        return end.get() != null;
    }

    /** The document is not there, for a reason that is this program's or the machine's, and ends everything. */
    void failed(Throwable problem) {
        end(
                problem instanceof RuntimeException failed
                        ? failed
                        : new IllegalStateException("restoring has failed: " + problem, problem));
        left();
    }

    /** Ends everything, with what has made it impossible to go on. */
    void end(RuntimeException problem) {
        end.compareAndSet(null, problem);
    }

    /** Runs an action of a document that is under way on one of the jobs' threads. */
    void later(Runnable action) {
        jobs.execute(action);
    }

    /** Waits until there is room in memory for what is there of a document at a time. */
    int reserve(Generation generation) {
        long count = Math.max(1, generation.count());
        long bytes = SnapshotParts.bytes(count, generation.valueBytes());
        // A part, or one value; how long the longest is nobody knows, but it takes most of the bytes where there are
        // few.
        long part = Math.min(bytes, Math.max(SnapshotParts.MAX_BYTES, 2 * (bytes / count)));
        int reserved = (int) Math.min(part, MAX_WAITING_BYTES);
        waitingBytes.acquireUninterruptibly(reserved);
        return reserved;
    }

    void release(int reserved) {
        waitingBytes.release(reserved);
    }

    /** So many bytes of values were handed to the store. */
    void moved(long bytes) {
        progress.moved(bytes);
    }

    /** The archive has given a document. */
    void answered() {
        unanswered.set(0);
    }

    /** The document is not tried, because everything has ended. */
    void left() {
        underWay.release();
    }

    /** The document is deleted. */
    void deleted() {
        progress.deleted();
        underWay.release();
    }

    /** The document is there. */
    void restored(Restored restored) {
        progress.restored(restored);
        tell(() -> listener.restored(restored));
    }

    /** The document is not there, or not in its latest generation. */
    void fault(RestoreFault fault, RuntimeException problem) {
        if (isUnanswered(problem) && unanswered.incrementAndGet() >= MAX_UNANSWERED) {
            end(problem);
        }
        progress.fault(fault);
        tell(() -> listener.fault(fault));
    }

    private static boolean isUnanswered(RuntimeException problem) {
        return problem instanceof ObjectStoreException refused
                && (refused.kind() == ObjectStoreException.Kind.UNAVAILABLE
                        || refused.kind() == ObjectStoreException.Kind.DENIED);
    }

    private void tell(Runnable action) {
        teller.execute(() -> {
            try {
                action.run();
            } catch (RuntimeException problem) {
                end(problem);
            } finally {
                underWay.release();
            }
        });
    }

    /** Is told what becomes of each document of a whole restore, by one thread at a time. */
    public interface RestoreListener {

        /** The document is there and durable. */
        void restored(Restored restored);

        /** The document, or its latest generation, could not be restored. */
        void fault(RestoreFault fault);
    }

    /**
     * A document of an archive that is not, or not in its latest generation, in the store that was restored.
     *
     * @param document its name, or null when the object that has it cannot be read
     * @param object key of the object that is at fault, or of the document's manifest
     * @param why what is wrong, for people
     * @param instead the older generation that was restored instead, or null when none was
     */
    public record RestoreFault(
            @Nullable DocumentName document,
            String object,
            String why,
            @Nullable Restored instead) {}
}
