package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.Shards;
import io.caravan.StoreClosedException;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Pipeline;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.restore.DocumentRestorer.Local;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.archive.restore.RestoreProgress.RestoreFault;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.StoreIdentity;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Restores all documents of an archive that are not deleted. Reports a document that cannot be restored as a fault, and
 * restores the other documents. A failure of the store, or an archive that no longer responds, ends the restore.
 * Another restore to the same store then continues with the remaining documents.
 *
 * <p>A restore to a store that contains stale documents replaces or deletes them. It does not check that no client has
 * changed them since it read their state. Therefore, no server may use the store during the restore.
 *
 * <p><b>Threading.</b> The thread that calls {@link #run} lists manifests, page by page, and reports the outcomes. The
 * threads of a {@link Pipeline} each restore a document. They do not wait for the fsync of the store, which the
 * reporting thread requests once for many documents. The number of bytes of values in memory is limited.
 */
public final class WholeRestore {
    /** Maximum number of documents that wait for an fsync. */
    private static final int MAX_UNREPORTED = 1024;
    /** The time after which documents no longer wait for others to share their fsync. */
    private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Approximate maximum number of bytes of values that wait in memory. */
    private static final int MAX_WAITING_BYTES = 64 * 1024 * 1024;
    /** Number of consecutive documents that fail because the archive is unreachable, after which the restore ends. */
    private static final int MAX_UNREACHABLE = 20;

    /** Exceptions after which restores of other documents would also fail. */
    private static final Set<Class<? extends CaravanException>> FATAL = Set.of(
            OutOfSpaceException.class,
            StoreFailedException.class,
            StoreIoException.class,
            StoreClosedException.class,
            CorruptStoreException.class);

    private final Archive archive;
    private final DocumentRestorer restorer;
    private final DocumentService documents;
    private final int jobs;
    private final boolean allowOlder;
    private final RestoreProgress progress;
    private final Semaphore waitingBytes = new Semaphore(MAX_WAITING_BYTES);
    /** The reports on documents that are perhaps not durable yet. */
    private final Queue<Runnable> unreported = new ArrayDeque<>();

    private long flushedNanos = System.nanoTime();
    private int unreachable;

    /**
     * Restores all documents of an archive to a store that no server is using. On return, the restored documents are on
     * disk, and the store is closed. Until all documents are restored, the store is marked as incomplete, so that no
     * server serves it as a complete one. A document that was restored from an older generation does not count as
     * missing.
     *
     * @param config the configuration of the store, which is created if it is missing. It must accept the longest value
     *     in the archive
     * @param groups number of the store's shards, which may differ from that of the archived store
     * @param jobs number of documents to read at a time
     * @param allowOlder whether a document whose latest generation is damaged is restored from an older one
     * @param allowMissing whether the store counts as complete although documents could not be restored
     * @param progress receives the outcomes
     * @throws CaravanException the error that prevented or ended the restore, such as a {@link StoreDirectoryException}
     *     when the directory contains another store
     */
    public static void toStore(
            Archive archive,
            StoreConfig config,
            int groups,
            int jobs,
            boolean allowOlder,
            boolean allowMissing,
            RestoreProgress progress) {
        try (Shards opened = open(config, groups, archive.root().store());
                DocumentService documents = DocumentService.offline(opened.store())) {
            ListStore store = opened.store();
            new WholeRestore(archive, documents, jobs, allowOlder, progress).run();
            archive.requireExists();
            if (allowMissing || progress.missing() == 0) {
                StoreIdentity.incomplete(store, false);
                store.flush();
            }
            store.checkpoint();
        }
    }

    /**
     * Opens a store for an archive's documents. A new store first adopts the identity of the archived store, so that an
     * interrupted restore can continue in the same store. Until the restore is complete, the store is marked as
     * incomplete.
     */
    private static Shards open(StoreConfig config, int groups, UUID archived) {
        Shards opened = Shards.open(config, groups);
        try {
            ListStore store = opened.store();
            if (!StoreIdentity.mayAdopt(store) && !archived.equals(StoreIdentity.find(store))) {
                throw new StoreDirectoryException(
                        "the directory " + config.directory() + " contains another store than the"
                                + " one that was archived; restore to a directory that is empty or does not exist");
            }
            StoreIdentity.adopt(store, archived);
            StoreIdentity.incomplete(store, true);
            return opened;
        } catch (Throwable problem) {
            opened.close();
            throw problem;
        }
    }

    /** Prepares a restore to a store that is open; the other parameters are those of {@link #toStore}. */
    public WholeRestore(
            Archive archive, DocumentService documents, int jobs, boolean allowOlder, RestoreProgress progress) {
        this.archive = archive;
        this.restorer = new DocumentRestorer(() -> archive, documents, progress::moved);
        this.documents = documents;
        this.jobs = jobs;
        this.allowOlder = allowOlder;
        this.progress = progress;
    }

    /**
     * Restores all documents. A document is durable when it is reported. Call this once.
     *
     * @throws CaravanException the error that ended the restore before all documents were tried
     */
    public void run() {
        try (Pipeline<Runnable> pipeline = new Pipeline<>(jobs, false, this::reportWhenDurable)) {
            pipeline.submit(this::count);
            archive.manifests().forEach(key -> pipeline.submit(() -> restore(key)));
            pipeline.finish();
        } catch (RuntimeException ended) {
            try {
                report();
            } catch (RuntimeException second) {
                // Both may be the failure of the store.
                if (second != ended) {
                    ended.addSuppressed(second);
                }
            }
            throw ended;
        }
        report();
    }

    private void reportWhenDurable(Runnable outcome) {
        unreported.add(outcome);
        if (unreported.size() == MAX_UNREPORTED || System.nanoTime() - flushedNanos > REPORT_NANOS) {
            report();
        }
    }

    private void report() {
        documents.store().flush();
        flushedNanos = System.nanoTime();
        while (!unreported.isEmpty()) {
            unreported.remove().run();
        }
    }

    /** Counts the archive's manifests. Listing is fast compared with reading, so the total is soon known. */
    private Runnable count() {
        try {
            long count = archive.manifests().count();
            return () -> progress.total(count);
        } catch (CaravanException unlisted) {
            // The other listing of the same keys reports the problem. The total stays unknown.
            return () -> {};
        }
    }

    /** Restores one document and returns the report of the outcome. Throws an exception that ends the restore. */
    private Runnable restore(String key) {
        DocumentName name = null;
        try {
            KeptManifest kept = archive.manifestAt(key);
            if (kept == null) {
                String gone = "it was in the list of the archive's documents and does not exist: run the command again";
                throw new ArchiveException(Reason.NOT_FOUND, gone);
            }
            name = kept.manifest().name();
            return restore(kept.manifest());
        } catch (CaravanException problem) {
            return fault(name, key, problem, problem);
        } catch (Error bug) {
            throw new IllegalStateException("restoring has failed: " + bug, bug);
        }
    }

    private Runnable restore(Manifest manifest) {
        int reserved = (int) Math.min(MAX_WAITING_BYTES, partBytes(manifest));
        waitingBytes.acquireUninterruptibly(reserved);
        try {
            Local local = restorer.local(manifest.name());
            DocumentInfo info = local.info();
            Generation copied = info == null ? null : copied(manifest, info);
            return isDeleted(manifest, local, copied) ? progress::deleted : restore(manifest, local, copied);
        } finally {
            waitingBytes.release(reserved);
        }
    }

    /**
     * Restores the latest generation or, if it is damaged and {@code allowOlder} is set, the one before it.
     *
     * @param copied the generation of which the document is already a copy, or null
     */
    private Runnable restore(Manifest manifest, Local local, @Nullable Generation copied) {
        List<Generation> all = manifest.generations();
        if (all.isEmpty()) {
            throw new ArchiveException(
                    Reason.NOT_FOUND,
                    "the archive has no generation of document '" + manifest.name() + "'; "
                            + manifest.describeGenerations());
        }
        String latestKey = all.get(all.size() - 1).key();
        CaravanException latestDamage = null;
        for (int left = all.size() - 1; ; left--) {
            try {
                Restored restored = restore(manifest, all.get(left), local, copied, latestDamage == null);
                if (latestDamage == null) {
                    return () -> restored(restored);
                }
                String why = why(latestDamage);
                return () -> progress.fault(new RestoreFault(manifest.name(), latestKey, why, restored));
            } catch (CaravanException problem) {
                latestDamage = latestDamage == null ? problem : latestDamage;
                if (!allowOlder || left == 0 || !isDamage(problem)) {
                    return fault(manifest.name(), latestKey, problem, latestDamage);
                }
            }
        }
    }

    private Restored restore(
            Manifest manifest, Generation generation, Local local, @Nullable Generation copied, boolean latest) {
        DocumentInfo info = local.info();
        if (info != null && copied != null) {
            if (copied.number() >= generation.number() || !latest && !info.archived()) {
                return Restored.unchanged(manifest.name(), copied, info);
            }
            if (!info.archived()) {
                // If the latest generation is still damaged, the older one stays.
                archive.verify(manifest.name(), generation, bytes -> {});
            }
        }
        Source source = Source.of(manifest, generation, false);
        return info != null && isStale(manifest, generation, latest, info, copied)
                ? restorer.create(source, true)
                : restorer.restore(source, !latest, local);
    }

    /** Whether the document was deleted. If so, also deletes it from the store if an earlier restore has created it. */
    private boolean isDeleted(Manifest manifest, Local local, @Nullable Generation copied) {
        Tombstone tombstone = manifest.tombstone();
        if (tombstone == null) {
            return local.deleted();
        }
        DocumentInfo info = local.info();
        ArchiveMark mark = info == null ? null : info.attributes().archived();
        if (info != null
                && mark != null
                && (precedes(mark, manifest, tombstone) || mark.generation() == 0 && isUnchanged(info, copied))) {
            if (!isReplaceable(info, copied)) {
                throw notReplaceable(manifest, info, mark, "deleted");
            }
            Outcome.<Boolean>await(
                    outcome -> documents.writeLocal(manifest.name(), EditedDocument::deleteUnnoted, outcome));
        }
        return true;
    }

    /** Whether the archive has deleted the document with this mark, or a later document of the same name. */
    private static boolean precedes(ArchiveMark mark, Manifest manifest, Tombstone tombstone) {
        return mark.incarnation() == tombstone.incarnation()
                || mark.generation() > 0 && mark.generation() <= manifest.lastGeneration();
    }

    private static ArchiveException notReplaceable(
            Manifest manifest, DocumentInfo local, ArchiveMark mark, String done) {
        String why = local.attributes().forks() > 0
                ? "has forks here"
                : local.archived()
                        ? "is here as it was in generation " + mark.generation() + ", which the archive does not have:"
                                + " it was removed from the archive, or is in another one"
                        : "has changes here that the archive does not have, or only some of the values of a"
                                + " generation";
        return new ArchiveException(
                Reason.DIVERGED,
                "document '" + manifest.name() + "' is " + done + " in the archive, and " + why
                        + "; the restore leaves it unchanged");
    }

    /**
     * Whether to replace the document, because appending to it cannot produce the generation. This is the case if the
     * generation is of another incarnation, has no further values, or was trimmed. Trimmed values must not reappear,
     * and the document would differ from every generation.
     *
     * @throws ArchiveException {@code DIVERGED} if the generation was trimmed or has other attributes, and the document
     *     cannot be replaced
     */
    private boolean isStale(
            Manifest manifest, Generation generation, boolean latest, DocumentInfo local, @Nullable Generation copied) {
        ArchiveMark mark = local.attributes().archived();
        if (mark == null || mark.generation() >= generation.number()) {
            return false;
        }
        boolean same = mark.incarnation() == generation.incarnation();
        if (local.archived() && isReplaceable(local, copied)) {
            return !latest
                    || !same
                    || local.firstSequence() != generation.firstSequence()
                    || local.nextSequence() >= generation.nextSequence();
        }
        if (same && local.firstSequence() < generation.firstSequence()) {
            if (isPartOf(manifest, generation, local, mark)) {
                return true;
            }
            throw notReplaceable(manifest, local, mark, "trimmed");
        }
        boolean forked = local.archived() && local.attributes().forks() > 0;
        if (latest && same && forked && local.nextSequence() >= generation.nextSequence()) {
            throw notReplaceable(manifest, local, mark, "changed");
        }
        return false;
    }

    /**
     * Whether the document has changed since its mark only because an interrupted restore has appended some of the
     * generation's values.
     */
    private boolean isPartOf(Manifest manifest, Generation generation, DocumentInfo local, ArchiveMark mark) {
        return !isServed()
                && local.attributes().forks() == 0
                && local.firstSequence() == mark.firstSequence()
                && local.attributes().portableHash() == mark.attributesHash()
                && generation.firstSequence() <= mark.nextSequence()
                && local.nextSequence() <= generation.nextSequence()
                && hasSameValues(
                        manifest, generation, generation.firstSequence(), local.nextSequence(), attributes -> true);
    }

    /** Whether a server has used the store with an archive, which need not be this one. */
    private boolean isServed() {
        return documents.store().info(StoreIdentity.ARCHIVE_LIST_ID) != null;
    }

    /** Whether the document is unchanged, and has no forks, for which its values and its name would have to stay. */
    private boolean isReplaceable(DocumentInfo local, @Nullable Generation copied) {
        return isUnchanged(local, copied) && local.attributes().forks() == 0;
    }

    /**
     * Whether a document that has a mark is certainly unchanged since a restore. If a server has used the store with an
     * archive, the document must equal a generation: the server may have archived it elsewhere, or have restored it at
     * the request of a user.
     *
     * @param copied the generation of which the document is a copy, or null
     */
    private boolean isUnchanged(DocumentInfo local, @Nullable Generation copied) {
        return isServed() ? local.archived() && copied != null : local.archived() || copied != null;
    }

    /** Returns the generation of which the document is an unchanged copy, or null. */
    private @Nullable Generation copied(Manifest manifest, DocumentInfo local) {
        return manifest.generations().stream()
                .filter(generation -> isCopy(manifest, generation, local))
                .findFirst()
                .orElse(null);
    }

    private boolean isCopy(Manifest manifest, Generation generation, DocumentInfo local) {
        ArchiveMark mark = local.attributes().archived();
        if (mark == null
                || local.firstSequence() != generation.firstSequence()
                || local.nextSequence() != generation.nextSequence()) {
            return false;
        }
        // A document that was restored from an older generation has the mark of a new document.
        return mark.generation() == 0
                ? hasSameValues(
                        manifest,
                        generation,
                        0,
                        Long.MAX_VALUE,
                        local.attributes().portable()::equals)
                : local.archived() && mark.equals(Archive.mark(generation, local.attributes()));
    }

    /** Whether the document has the values that the generation has in a range, and the generation these attributes. */
    private boolean hasSameValues(
            Manifest manifest, Generation generation, long from, long to, Predicate<Attributes> attributes) {
        SequenceHash here = new SequenceHash(from, to, info -> true);
        SequenceHash archived = new SequenceHash(from, to, info -> true);
        try (SnapshotReader reader = archive.read(manifest.name(), generation)) {
            archived.addAll(reader);
            return attributes.test(reader.header().attributes())
                    && documents.snapshot(manifest.name(), here)
                    && here.finish().equals(archived.finish());
        } catch (ArchiveException | ObjectStoreException problem) {
            if (isDamage(problem)) {
                return false;
            }
            throw problem;
        }
    }

    /** Returns the approximate number of bytes of a document that are in memory at one time. */
    private static long partBytes(Manifest manifest) {
        long most = 0;
        for (Generation generation : manifest.generations()) {
            long count = Math.max(1, generation.count());
            long bytes = SnapshotParts.bytes(count, generation.valueBytes());
            // A part, or one value. The length of the longest value is unknown. If there are few values, it may take
            // most of the bytes.
            most = Math.max(most, Math.min(bytes, Math.max(SnapshotParts.MAX_BYTES, 2 * (bytes / count))));
        }
        return most;
    }

    /** Whether the generation is missing or damaged in the archive; another generation may then be intact. */
    private static boolean isDamage(CaravanException problem) {
        if (problem instanceof ArchiveException damaged) {
            return damaged.reason() == Reason.CORRUPT || damaged.reason() == Reason.NOT_FOUND;
        }
        return problem instanceof ObjectStoreException missing
                && (missing.kind() == Kind.NOT_FOUND || missing.kind() == Kind.CORRUPT);
    }

    private void restored(Restored restored) {
        unreachable = 0;
        progress.restored(restored);
    }

    /**
     * Returns the report on a document that was not restored. Throws an exception after which restores of other
     * documents would also fail.
     *
     * @param reported the fault of the document's latest generation
     */
    private Runnable fault(
            @Nullable DocumentName document, String object, CaravanException problem, CaravanException reported) {
        if (FATAL.contains(problem.getClass())) {
            throw problem;
        }
        RestoreFault fault = new RestoreFault(document, object, why(reported), null);
        return () -> {
            progress.fault(fault);
            if (reported instanceof ObjectStoreException rejected
                    && rejected.isOutage()
                    && ++unreachable >= MAX_UNREACHABLE) {
                throw reported;
            }
        };
    }

    private static String why(CaravanException problem) {
        String message = String.valueOf(problem.getMessage());
        return problem instanceof ValueTooLargeException
                ? message + "; no store of this release accepts it"
                : message.replace(DocumentRestorer.AS_ANOTHER, "restore to another directory");
    }
}
