package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.archive.restore.RestoreService.NameLocks;
import io.caravan.server.document.ColdDocuments;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches from the archive the documents that the store lacks, each when it is first needed. All callers that need the
 * same document share one fetch. Names that the archive lacks are cached while there is space. This is safe: no other
 * server writes to this archive, and every document that this server archives is in its store or was deleted.
 *
 * <p><b>Threading.</b> A few threads fetch one document each at a time, and notify its callers. The number of waiting
 * documents is bounded. A fetch is rejected in these cases:
 *
 * <ul>
 *   <li>Too many documents are being fetched.
 *   <li>The archive has just failed to respond or denied access, so callers would wait in vain.
 *   <li>The document was recently found damaged, and another fetch would read it completely.
 * </ul>
 */
public final class Hydration implements ColdDocuments, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Hydration.class);
    private static final int THREADS = 16;
    static final int MAX_FETCHES = 16 * 1024;
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_DAMAGED = 1024;
    private static final long DAMAGE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final DocumentRestorer restorer;
    private final NameLocks locks;
    private final AbsentNames absent = new AbsentNames();
    /** The documents last found damaged or missing in the archive, oldest first; guarded by itself. */
    private final Map<DocumentName, Problem> damaged = new LinkedHashMap<>();

    private final ConcurrentHashMap<DocumentName, Fetch> fetches = new ConcurrentHashMap<>();
    private final ExecutorService threads =
            Executors.newFixedThreadPool(THREADS, new DefaultThreadFactory("caravan-hydrate", true));
    private final AtomicLong hydrated = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final Semaphore waitingReads;
    /** The error from the last time that the archive failed to respond; null if it has responded since. */
    private volatile @Nullable Problem outage;

    private record Problem(CaravanException cause, long sinceNanos) {
        Problem(CaravanException cause) {
            this(cause, System.nanoTime());
        }
    }

    /** Creates the hydration of a store; at most {@code maxWaitingReads} reading threads wait for documents at a time. */
    Hydration(Supplier<Archive> archive, DocumentService documents, NameLocks locks, int maxWaitingReads) {
        this.waitingReads = new Semaphore(maxWaitingReads);
        this.archive = archive;
        this.documents = documents;
        this.restorer = new DocumentRestorer(archive, documents, bytes -> {});
        this.locks = locks;
    }

    public long hydrated() {
        return hydrated.get();
    }

    public long failures() {
        return failures.get();
    }

    /** Returns the number of documents that are being fetched or waiting to be fetched. */
    public int fetching() {
        return fetches.size();
    }

    @Override
    public boolean mayHave(DocumentName name) {
        return !absent.contains(name) && !documents.deletionPending(name);
    }

    @Override
    public boolean fetching(DocumentName name) {
        return fetches.containsKey(name);
    }

    @Override
    public void await(DocumentName name) {
        if (!waitingReads.tryAcquire()) {
            throw unavailable(
                    "document '" + name + "' may be in the archive, but too many reads wait for it; try again later",
                    null);
        }
        try {
            ColdDocuments.super.await(name);
        } finally {
            waitingReads.release();
        }
    }

    @Override
    public void fetch(DocumentName name, Outcome<DocumentName> known) {
        try {
            fetches.compute(name, (same, current) -> {
                Fetch fetch = current == null ? new Fetch(name) : current;
                fetch.waiting.add(known);
                if (current == null) {
                    requireSpace(name);
                    threads.execute(fetch);
                }
                return fetch;
            });
        } catch (RejectedExecutionException closed) {
            known.failure(stopping());
        } catch (CaravanException rejected) {
            known.failure(rejected);
        }
    }

    /** Throws the reason why a document that is not being fetched yet cannot be fetched now. */
    private void requireSpace(DocumentName name) {
        CaravanException rejected = rejection();
        synchronized (damaged) {
            rejected = rejected == null ? recent(damaged.get(name), DAMAGE_NANOS) : rejected;
        }
        if (rejected == null && fetches.mappingCount() >= MAX_FETCHES) {
            rejected =
                    unavailable(MAX_FETCHES + " documents are being fetched from the archive; try again later", null);
        }
        if (rejected != null) {
            throw rejected;
        }
    }

    private static ObjectStoreException stopping() {
        return unavailable("the server is stopping and does not fetch documents from the archive", null);
    }

    /** Returns the reason why no documents are fetched at the moment, or null. */
    private @Nullable CaravanException rejection() {
        if (threads.isShutdown()) {
            return stopping();
        }
        return recent(outage, PAUSE_NANOS);
    }

    private static @Nullable CaravanException recent(@Nullable Problem last, long nanos) {
        return last == null || System.nanoTime() - last.sinceNanos() > nanos ? null : last.cause();
    }

    private static ObjectStoreException unavailable(String message, @Nullable Throwable cause) {
        return new ObjectStoreException(Kind.UNAVAILABLE, message, cause);
    }

    private final class Fetch implements Runnable {
        private final DocumentName name;
        /** The callers that wait for the document, in order of arrival. Added while the map computes this fetch. */
        private final Queue<Outcome<DocumentName>> waiting = new ConcurrentLinkedQueue<>();

        Fetch(DocumentName name) {
            this.name = name;
        }

        @Override
        public void run() {
            CaravanException problem = tryFetch();
            // No caller can be added between the check and the removal of this fetch from the map.
            while (fetches.computeIfPresent(name, (same, self) -> waiting.isEmpty() ? null : self) != null) {
                notify(waiting.remove(), problem);
            }
        }

        private @Nullable CaravanException tryFetch() {
            CaravanException rejected = rejection();
            if (rejected != null) {
                return rejected;
            }
            try {
                locks.with(name, () -> restore(name));
                outage = null;
                return null;
            } catch (DocumentException here) {
                // The store has a document of this name, and reports the problem to the callers itself.
                return null;
            } catch (CaravanException problem) {
                noteFailure(name, problem);
                return problem;
            } catch (RuntimeException | Error bug) {
                LOG.error(
                        "document '{}' was not fetched from the archive because of an error in the server", name, bug);
                return unavailable("document '" + name + "' cannot be fetched, see the server's log: " + bug, bug);
            }
        }

        private void notify(Outcome<DocumentName> outcome, @Nullable CaravanException problem) {
            try {
                if (problem == null) {
                    outcome.success(name);
                } else {
                    outcome.failure(problem);
                }
            } catch (RuntimeException | Error bug) {
                // If this method rethrew the exception, the remaining callers would wait forever.
                LOG.error("a request that waited for document '{}' has failed", name, bug);
            }
        }
    }

    private void noteFailure(DocumentName name, CaravanException problem) {
        failures.incrementAndGet();
        LOG.warn("document '{}' cannot be fetched from the archive: {}", name, problem.getMessage());
        if (problem instanceof ObjectStoreException rejected && rejected.isOutage()) {
            outage = new Problem(problem);
        } else if (problem instanceof ArchiveException || problem instanceof ObjectStoreException) {
            synchronized (damaged) {
                damaged.remove(name);
                damaged.put(name, new Problem(problem));
                if (damaged.size() > MAX_DAMAGED) {
                    damaged.remove(damaged.keySet().iterator().next());
                }
            }
        }
    }

    /** Restores the document to the store if only the archive has it; returns whether it was restored. */
    private boolean restore(DocumentName name) {
        if (documents.peek(name) != null || !mayHave(name)) {
            return false;
        }
        KeptManifest kept = archive.get().manifest(name);
        if (kept == null) {
            requireArchive();
        }
        if (kept == null || kept.manifest().tombstone() != null) {
            absent.add(name);
            return false;
        }
        Manifest manifest = kept.manifest();
        Generation latest = manifest.latest();
        if (latest == null) {
            throw new ArchiveException(
                    Reason.NOT_FOUND, "document '" + name + "' cannot be fetched: " + manifest.describeGenerations());
        }
        restorer.create(Source.of(manifest, latest, false), false);
        hydrated.incrementAndGet();
        return true;
    }

    private void requireArchive() {
        try {
            archive.get().requireExists();
        } catch (ArchiveException gone) {
            throw unavailable(String.valueOf(gone.getMessage()), gone);
        }
    }

    /** Ends pending fetches, which then fail for their callers. */
    @Override
    public void close() {
        threads.shutdownNow().forEach(Runnable::run);
    }

    /**
     * The names that the archive was most recently found to lack, as many as fit into a limited space. When new names
     * fill half of the space, the older half is discarded. Thread-safe.
     */
    private static final class AbsentNames {
        /** The approximate memory overhead of a name, in addition to its bytes. */
        private static final int OVERHEAD_BYTES = 100;

        /** The size of each half of the space. Both halves together have space for about 150,000 short names. */
        private static final long HALF_BYTES = 8 * 1024 * 1024;

        private volatile Set<DocumentName> newer = ConcurrentHashMap.newKeySet();
        private volatile Set<DocumentName> older = Set.of();
        private long newerBytes;

        boolean contains(DocumentName name) {
            return newer.contains(name) || older.contains(name);
        }

        synchronized void add(DocumentName name) {
            int bytes = name.toBytes().length + OVERHEAD_BYTES;
            newerBytes += bytes;
            if (newerBytes > HALF_BYTES) {
                older = newer;
                newer = ConcurrentHashMap.newKeySet();
                newerBytes = bytes;
            }
            newer.add(name);
        }
    }
}
