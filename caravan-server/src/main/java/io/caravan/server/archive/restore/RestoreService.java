package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.DocumentRestorer.Local;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores single documents into a store that is in use, by the rules of {@link DocumentRestorer}. A server's service
 * also owns the components that restore documents automatically. Thread-safe. Called on threads that may block.
 */
public final class RestoreService implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RestoreService.class);
    private static final int THREADS = 4;
    private static final int MAX_WAITING = 64;
    private static final int MAX_ATTEMPTS = 5;

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final DocumentRestorer restorer;
    private final NameLocks locks = new NameLocks();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            THREADS,
            THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(MAX_WAITING),
            new DefaultThreadFactory("caravan-restore-one", true));

    private final @Nullable Hydration hydration;
    private final @Nullable Drills drills;

    /**
     * The configuration of the automatic restores of a server that has an archive.
     *
     * @param hydrate whether documents that the store lacks are fetched when they are first needed
     * @param drillEvery time between two drills; zero for no drills
     * @param drillSample number of documents that a drill restores
     * @param data the store's directory
     * @param maxValueBytes maximum length of a value in the store
     */
    public record RestoreConfig(boolean hydrate, Duration drillEvery, int drillSample, Path data, int maxValueBytes) {
        public static final RestoreConfig NOTHING = new RestoreConfig(false, Duration.ZERO, 0, Path.of("."), 1);
    }

    /**
     * Creates a server's service, and starts the automatic restores that a configuration enables.
     *
     * @param archive returns the archive; throws an exception with the reason when it is not available
     * @param documents the server's documents; hydration, if configured, is registered with them
     * @param readers number of threads that read documents; half of them may wait for the archive
     */
    public RestoreService(Supplier<Archive> archive, DocumentService documents, RestoreConfig config, int readers) {
        this.archive = archive;
        this.documents = documents;
        this.restorer = new DocumentRestorer(archive, documents, bytes -> {});
        this.hydration = config.hydrate() ? new Hydration(archive, documents, locks, Math.max(1, readers / 2)) : null;
        this.drills =
                config.drillEvery().isZero() ? null : new Drills(archive, documents, config, InstantSource.system());
        threads.allowCoreThreadTimeOut(true);
        if (hydration != null) {
            documents.coldDocuments(hydration);
        }
        if (drills != null) {
            drills.start(config.drillEvery());
        }
    }

    /** Returns the component that fetches documents when they are first needed, or null. */
    public @Nullable Hydration hydration() {
        return hydration;
    }

    /** Returns the component that tests restores on a schedule, or null. */
    public @Nullable Drills drills() {
        return drills;
    }

    /**
     * Restores a document as {@link #restore(DocumentName, OptionalLong, DocumentName)} does, but on a thread of this
     * service, because the restore may take hours. That thread reports the outcome.
     *
     * @throws ObjectStoreException when too many requests are already waiting
     */
    public void restoreApart(
            DocumentName name, OptionalLong number, @Nullable DocumentName as, Outcome<Restored> outcome) {
        apart(name, () -> restore(name, number, as), outcome);
    }

    /** Reads a document's manifest; otherwise like {@link #restoreApart}. */
    public void manifestApart(DocumentName name, Outcome<Optional<Manifest>> outcome) {
        apart(name, () -> Optional.ofNullable(archive.get().manifest(name)).map(KeptManifest::manifest), outcome);
    }

    private <T> void apart(DocumentName name, Supplier<T> work, Outcome<T> outcome) {
        try {
            threads.execute(() -> {
                T result;
                try {
                    if (threads.isShutdown()) {
                        throw rejection(name, null);
                    }
                    result = work.get();
                } catch (RuntimeException rejected) {
                    outcome.failure(rejected);
                    return;
                } catch (Error broken) {
                    outcome.failure(new IllegalStateException("restoring has failed: " + broken, broken));
                    throw broken;
                }
                outcome.success(result);
            });
        } catch (RejectedExecutionException full) {
            throw rejection(name, full);
        }
    }

    private ObjectStoreException rejection(DocumentName name, @Nullable RejectedExecutionException cause) {
        String why =
                threads.isShutdown() ? "the server is stopping" : "many others are being restored; try again later";
        return new ObjectStoreException(
                ObjectStoreException.Kind.UNAVAILABLE,
                "document '" + name + "' is not restored, because " + why,
                cause);
    }

    /**
     * Restores a document.
     *
     * @param number number of the generation, or empty for the latest
     * @param as the name of a new document to create, or null to restore the document itself
     * @throws ArchiveException {@code DELETED} or {@code DIVERGED}, among others
     * @throws DocumentException {@code NOT_FOUND}, {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code
     *     CHANGED}
     */
    public Restored restore(DocumentName name, OptionalLong number, @Nullable DocumentName as) {
        return locks.with(
                as == null ? name : as,
                () -> retrying(() -> as == null ? restoreOnce(name, number) : restoreAs(name, number, as)));
    }

    /** Runs an attempt, and retries it if the document was changed concurrently. */
    private static Restored retrying(Supplier<Restored> attempt) {
        for (int attempts = 1; ; attempts++) {
            try {
                return attempt.get();
            } catch (DocumentException rejected) {
                if (rejected.reason() != DocumentException.Reason.CHANGED || attempts == MAX_ATTEMPTS) {
                    throw rejected;
                }
            }
        }
    }

    private Restored restoreOnce(DocumentName name, OptionalLong number) {
        Local local = restorer.local(name);
        Manifest manifest = manifest(name);
        boolean chosen = number.isPresent();
        DocumentRestorer.requireNotDeleted(manifest, chosen, local.deleted(), local.info());
        Generation generation = choose(manifest, number);
        Source source = Source.of(manifest, generation, chosen);
        Restored restored = restorer.restore(source, chosen, local);
        if (!chosen && restored.changed() && isExpired(name)) {
            throw new ArchiveException(
                    ArchiveException.Reason.DELETED,
                    "document '" + name + "' has expired since it was archived; to restore it without an expiry, name a"
                            + " generation (AT, --at); " + manifest.describeGenerations());
        }
        return restored;
    }

    /** Whether the store has no document with this name, or only one that has expired. Reads no values. */
    private boolean isExpired(DocumentName name) {
        return !documents.snapshot(name, new SequenceHash(0, 0, info -> false));
    }

    private Restored restoreAs(DocumentName name, OptionalLong number, DocumentName as) {
        boolean deleted = documents.deletionPending(name);
        Manifest manifest = manifest(name);
        DocumentRestorer.requireNotDeleted(manifest, number.isPresent(), deleted, null);
        KeptManifest other = archive.get().manifest(as);
        if (other != null && other.manifest().tombstone() == null) {
            throw new DocumentException(
                    DocumentException.Reason.EXISTS, as, "is in the archive; restore to a name that is not in use");
        }
        Generation generation = choose(manifest, number);
        return restorer.create(Source.renamed(manifest, generation, as), false);
    }

    /** Returns the generation with this number, or the latest; throws an exception that lists the generations. */
    private static Generation choose(Manifest manifest, OptionalLong number) {
        Generation chosen = number.isEmpty()
                ? manifest.latest()
                : manifest.generations().stream()
                        .filter(generation -> generation.number() == number.getAsLong())
                        .findFirst()
                        .orElse(null);
        if (chosen == null) {
            String what = number.isEmpty() ? "no generation" : "no generation " + number.getAsLong();
            throw new DocumentException(
                    DocumentException.Reason.NOT_FOUND,
                    manifest.name(),
                    "has " + what + " in the archive; " + manifest.describeGenerations());
        }
        return chosen;
    }

    private Manifest manifest(DocumentName name) {
        KeptManifest kept = archive.get().manifest(name);
        if (kept == null) {
            throw new DocumentException(DocumentException.Reason.NOT_FOUND, name, "is not in the archive");
        }
        return kept.manifest();
    }

    /**
     * Ends drills, and fails waiting fetches and requests. A running restore ends when the store or the archive is
     * closed.
     */
    @Override
    public void close() {
        if (drills != null) {
            drills.close();
        }
        if (hydration != null) {
            hydration.close();
        }
        for (Runnable waiting : threads.shutdownNow()) {
            try {
                waiting.run();
            } catch (RuntimeException | Error problem) {
                LOG.error("a waiting restore could not report that the server is stopping", problem);
            }
        }
    }

    /**
     * A lock for each document name. One thread at a time restores a document, from reading the manifest until the
     * document exists, so a document that is deleted in between cannot reappear. Unused names use no memory. A waiting
     * thread must not hold a lock of the store.
     */
    static final class NameLocks {
        /** The futures of the threads that hold a lock, which complete when they release it. */
        private final ConcurrentHashMap<DocumentName, CompletableFuture<Void>> held = new ConcurrentHashMap<>();

        /** Runs the action while no other thread runs an action for the same name. Calls must not be nested. */
        <T> T with(DocumentName name, Supplier<T> action) {
            CompletableFuture<Void> released = new CompletableFuture<>();
            CompletableFuture<Void> other = held.putIfAbsent(name, released);
            while (other != null) {
                other.join();
                other = held.putIfAbsent(name, released);
            }
            try {
                return action.get();
            } finally {
                held.remove(name);
                released.complete(null);
            }
        }
    }
}
