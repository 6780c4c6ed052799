package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Waiting;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Restores all documents of an archive that are not deleted. A failure of one document is reported as its fault, and
 * the other documents are restored. A failure of the store, or an archive that no longer responds, ends the restore.
 * Another restore to the same store continues from there.
 *
 * <p><b>Threading.</b> The thread that calls {@link #run} lists manifests, page by page, and passes each to one of the
 * job threads, which reads the document. The store writes many documents at a time, as they arrive. A separate thread
 * reports them. The number of documents in progress and the number of bytes in memory are limited.
 */
public final class WholeRestore {
    /** Maximum number of documents in progress, from listing to reporting. */
    private static final int MAX_UNDER_WAY = 2048;
    /** Approximate maximum number of bytes of values that wait in memory. */
    private static final int MAX_WAITING_BYTES = 64 * 1024 * 1024;
    /** Number of documents in a row that fail because the archive is unreachable, after which the restore ends. */
    private static final int MAX_UNANSWERED = 20;

    /** Errors after which it is useless to continue with other documents. */
    private static final Set<Class<? extends CaravanException>> FATAL = Set.of(
            OutOfSpaceException.class,
            StoreFailedException.class,
            StoreIoException.class,
            StoreClosedException.class,
            CorruptStoreException.class);

    private final Archive archive;
    private final RestoreService restores;
    private final DocumentService documents;
    private final boolean allowOlder;
    private final RestoreListener listener;
    private final RestoreProgress progress;
    private final ExecutorService jobs;
    private final ExecutorService reporter =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("caravan-restored", true));
    private final Semaphore underWay = new Semaphore(MAX_UNDER_WAY);
    private final Semaphore waitingBytes = new Semaphore(MAX_WAITING_BYTES);
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicReference<@Nullable RuntimeException> end = new AtomicReference<>();

    /**
     * Prepares a restore.
     *
     * @param documents the store's documents
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
        this.restores = new RestoreService(() -> archive, documents, progress::moved);
        this.documents = documents;
        this.allowOlder = allowOlder;
        this.listener = listener;
        this.progress = progress;
        this.jobs = Executors.newFixedThreadPool(jobs, new DefaultThreadFactory("caravan-restore", true));
    }

    /** Receives the outcome of each document of a complete restore, on one thread at a time. */
    public interface RestoreListener {

        /** Called when the document exists and is durable. */
        void restored(Restored restored);

        /** Called when the document, or its latest generation, could not be restored. */
        void fault(RestoreFault fault);
    }

    /**
     * A document of an archive that was not restored, or not from its latest generation.
     *
     * @param document its name, or null when the object that contains the name cannot be read
     * @param object key of the faulty object, or of the document's manifest
     * @param why the fault, for people
     * @param instead the older generation that was restored instead, or null when none was
     */
    public record RestoreFault(
            @Nullable DocumentName document,
            String object,
            String why,
            @Nullable Restored instead) {}

    /**
     * Restores all documents. Reported documents are durable. Call this once.
     *
     * @throws CaravanException the error that ended the restore before all documents were tried
     */
    public void run() {
        jobs.execute(this::count);
        try {
            archive.manifests("", this::begin);
        } catch (RuntimeException unlisted) {
            end(unlisted);
        }
        underWay.acquireUninterruptibly(MAX_UNDER_WAY);
        jobs.shutdown();
        reporter.shutdown();
        try {
            jobs.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        RuntimeException problem = end.get();
        if (problem != null) {
            throw problem;
        }
    }

    /** Counts the manifests. Listing is fast compared with reading, so the total is soon known. */
    private void count() {
        AtomicLong count = new AtomicLong();
        try {
            archive.manifests("", key -> {
                count.incrementAndGet();
                return !jobs.isShutdown();
            });
            progress.total(count.get());
        } catch (CaravanException unlisted) {
            // The other listing of the same keys reports the problem. The total stays unknown.
            return;
        }
    }

    private boolean begin(String key) {
        underWay.acquireUninterruptibly();
        jobs.execute(() -> {
            try {
                restore(key);
            } catch (RuntimeException | Error bug) {
                failed(bug);
            }
        });
        return end.get() == null;
    }

    private void restore(String key) {
        if (end.get() != null) {
            underWay.release();
            return;
        }
        KeptManifest kept;
        try {
            kept = archive.manifestAt(key);
        } catch (ArchiveException | ObjectStoreException unreadable) {
            fault(null, key, unreadable, null);
            return;
        }
        if (kept == null) {
            String gone = "it was in the list of the archive's documents and is not there: run the command again";
            fault(null, key, new ArchiveException(Reason.NOT_FOUND, gone), null);
            return;
        }
        Manifest manifest = kept.manifest();
        try {
            if (isDeleted(manifest)) {
                progress.deleted();
                underWay.release();
                return;
            }
        } catch (ArchiveException goesOnHere) {
            fault(manifest.name(), key, goesOnHere, null);
            return;
        }
        int generations = manifest.generations().size();
        if (generations == 0) {
            String none = "the archive has no generation of document '" + manifest.name() + "'; "
                    + manifest.describeGenerations();
            fault(manifest.name(), key, new ArchiveException(Reason.NOT_FOUND, none), null);
        } else {
            new Attempt(manifest, generations - 1, null).run();
        }
    }

    /** Whether the document is deleted. Also deletes it from the store if an earlier restore has created it. */
    private boolean isDeleted(Manifest manifest) {
        Tombstone tombstone = manifest.tombstone();
        if (tombstone == null) {
            return documents.deletionPending(manifest.name());
        }
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        if (local != null && mark != null && mark.incarnation() == tombstone.incarnation()) {
            if (!local.archived()) {
                String later = "document '" + manifest.name() + "' is deleted in the archive, and has changes here that"
                        + " the archive does not have; it stays as it is here";
                throw new ArchiveException(Reason.DIVERGED, later);
            }
            drop(manifest);
        }
        return true;
    }

    private void drop(Manifest manifest) {
        Waiting.<Boolean>to(outcome -> documents.writeLocal(manifest.name(), EditedDocument::deleteUnnoted, outcome));
    }

    /**
     * Deletes an unchanged document of an earlier restore if appending to it cannot produce the generation: the
     * generation is of another incarnation, has no further values, or was trimmed beyond the local end. Verifies the
     * generation first.
     */
    private void dropStale(Manifest manifest, Generation generation) {
        DocumentInfo local = documents.peek(manifest.name());
        ArchiveMark mark = local == null ? null : local.attributes().archived();
        if (local == null || mark == null || !local.archived()) {
            return;
        }
        boolean goesOn =
                generation.firstSequence() <= local.nextSequence() && local.nextSequence() < generation.nextSequence();
        if (mark.incarnation() != generation.incarnation() || mark.generation() < generation.number() && !goesOn) {
            verify(manifest, generation);
            drop(manifest);
        }
    }

    private void verify(Manifest manifest, Generation generation) {
        try (SnapshotReader reader = archive.read(manifest.name(), generation)) {
            boolean more = true;
            while (more) {
                more = reader.next();
            }
        }
    }

    /** Restores one generation. If it is damaged and {@code allowOlder} is set, restores the one before it. */
    private final class Attempt implements Outcome<Restored> {
        private final Manifest manifest;
        private final int index;
        /** The fault of the latest generation, or null if this is the latest generation. */
        private final @Nullable RuntimeException latestDamaged;

        private final int reserved;

        /** Waits until enough memory is free, and reserves it. */
        Attempt(Manifest manifest, int index, @Nullable RuntimeException latestDamaged) {
            this.manifest = manifest;
            this.index = index;
            this.latestDamaged = latestDamaged;
            this.reserved = (int) Math.min(MAX_WAITING_BYTES, partBytes(generation()));
            waitingBytes.acquireUninterruptibly(reserved);
        }

        private Generation generation() {
            return manifest.generations().get(index);
        }

        void run() {
            try {
                if (latestDamaged == null) {
                    dropStale(manifest, generation());
                }
                restores.restore(manifest, generation(), latestDamaged != null, this);
            } catch (RuntimeException problem) {
                waitingBytes.release(reserved);
                refused(problem);
            } catch (Error problem) {
                waitingBytes.release(reserved);
                failed(problem);
            }
        }

        @Override
        public void success(Restored restored) {
            waitingBytes.release(reserved);
            if (latestDamaged == null) {
                unanswered.set(0);
                progress.restored(restored);
                report(() -> listener.restored(restored));
            } else {
                fault(manifest.name(), latestKey(), latestDamaged, restored);
            }
        }

        @Override
        public void failure(RuntimeException problem) {
            waitingBytes.release(reserved);
            jobs.execute(() -> refused(problem));
        }

        private void refused(RuntimeException problem) {
            RuntimeException first = latestDamaged == null ? problem : latestDamaged;
            if (!(problem instanceof CaravanException) || FATAL.contains(problem.getClass())) {
                failed(problem);
            } else if (isDamage(problem) && allowOlder && index > 0) {
                new Attempt(manifest, index - 1, first).run();
            } else {
                fault(manifest.name(), latestKey(), first, null);
            }
        }

        private String latestKey() {
            List<Generation> all = manifest.generations();
            return all.get(all.size() - 1).key();
        }
    }

    /** Returns the approximate number of bytes of a document that are in memory at a time. */
    private static long partBytes(Generation generation) {
        long count = Math.max(1, generation.count());
        long bytes = SnapshotParts.bytes(count, generation.valueBytes());
        // A part, or one value. The length of the longest value is unknown. If there are few values, it may take most
        // of the bytes.
        return Math.min(bytes, Math.max(SnapshotParts.MAX_BYTES, 2 * (bytes / count)));
    }

    /** Whether the generation is missing or damaged in the archive; another generation may then be intact. */
    private static boolean isDamage(RuntimeException problem) {
        if (problem instanceof ArchiveException damaged) {
            return damaged.reason() == Reason.CORRUPT || damaged.reason() == Reason.NOT_FOUND;
        }
        return problem instanceof ObjectStoreException missing
                && (missing.kind() == Kind.NOT_FOUND || missing.kind() == Kind.CORRUPT);
    }

    /** Ends the restore because of a problem. */
    private void end(RuntimeException problem) {
        end.compareAndSet(null, problem);
    }

    /**
     * Ends the restore because an error of this program, the store or the machine has prevented a document's restore.
     */
    private void failed(Throwable problem) {
        end(
                problem instanceof RuntimeException failed
                        ? failed
                        : new IllegalStateException("restoring has failed: " + problem, problem));
        underWay.release();
    }

    /** Reports that a document was not restored, or not from its latest generation. */
    private void fault(
            @Nullable DocumentName document, String object, RuntimeException problem, @Nullable Restored instead) {
        if (problem instanceof ObjectStoreException refused
                && (refused.kind() == Kind.UNAVAILABLE || refused.kind() == Kind.DENIED)
                && unanswered.incrementAndGet() >= MAX_UNANSWERED) {
            end(problem);
        }
        String message = String.valueOf(problem.getMessage());
        String why = problem instanceof ValueTooLargeException
                ? message + "; no store of this release takes it"
                : message.replace(MergePlan.AS_ANOTHER, "restore to another directory");
        RestoreFault fault = new RestoreFault(document, object, why, instead);
        progress.fault(fault);
        report(() -> listener.fault(fault));
    }

    private void report(Runnable action) {
        reporter.execute(() -> {
            try {
                action.run();
            } catch (RuntimeException problem) {
                end(problem);
            } finally {
                underWay.release();
            }
        });
    }
}
