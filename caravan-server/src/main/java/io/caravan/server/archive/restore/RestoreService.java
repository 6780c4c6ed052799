package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.ArchiveException;
import io.caravan.server.archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Waiting;
import java.util.OptionalLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Restores single documents into a store that is in use, by the rules of {@link MergePlan}. What fails has changed nothing,
 * unless {@link Merge} says otherwise. For threads that may wait; any number of them.
 */
public final class RestoreService {
    private static final int MAX_ATTEMPTS = 5;

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final DocumentRestorer restorer;
    private final NameLocks locks = new NameLocks();

    /**
     * Restores to these documents.
     *
     * @param archive gives the archive; throws, when it is not at hand, why
     */
    public RestoreService(Supplier<Archive> archive, DocumentService documents) {
        this(archive, documents, bytes -> {});
    }

    /** The same for who wants to know how far it is; see {@link DocumentRestorer}. */
    RestoreService(Supplier<Archive> archive, DocumentService documents, LongConsumer moved) {
        this.archive = archive;
        this.documents = documents;
        this.restorer = new DocumentRestorer(archive, documents, moved);
    }

    /**
     * Restores a document.
     *
     * @param number of the generation, or none for the latest
     * @param as the name of the new document that it shall be, or null for what it was
     * @throws ArchiveException {@code DELETED}, {@code BACK_IN_TIME} among others
     * @throws DocumentException {@code NOT_FOUND}, {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code CHANGED_MEANWHILE}
     */
    public Restored restore(DocumentName name, OptionalLong number, @Nullable DocumentName as) {
        return locks.with(as == null ? name : as, () -> {
            Manifest manifest = manifest(name);
            if (as != null) {
                return restoreAs(manifest, number, as);
            }
            boolean chosen = number.isPresent();
            if (!chosen) {
                MergePlan.requireThere(manifest, documents.deletionPending(name), documents.peek(name));
            }
            Generation generation = Generations.choose(manifest, number);
            return Waiting.to(outcome -> restore(manifest, generation, chosen, outcome));
        });
    }

    private Restored restoreAs(Manifest manifest, OptionalLong number, DocumentName as) {
        if (number.isEmpty()) {
            MergePlan.requireThere(manifest, documents.deletionPending(manifest.name()), null);
        }
        KeptManifest other = archive.get().manifest(as);
        if (other != null && other.manifest().tombstone() == null) {
            throw new DocumentException(
                    DocumentException.Reason.EXISTS, as, "is in the archive; restore to a name that is not taken");
        }
        Generation generation = Generations.choose(manifest, number);
        return Waiting.to(outcome -> restorer.create(Source.renamed(manifest, generation, as), outcome));
    }

    /** The locks under which documents are brought from the archive. */
    NameLocks locks() {
        return locks;
    }

    private Manifest manifest(DocumentName name) {
        KeptManifest kept = archive.get().manifest(name);
        if (kept == null) {
            throw new DocumentException(DocumentException.Reason.NOT_FOUND, name, "is not in the archive");
        }
        return kept.manifest();
    }

    /**
     * Restores a document under its own name. The outcome is told when it is durable, or what the store refused.
     *
     * @param chosen whether somebody asked for this generation, rather than for the latest
     * @throws CaravanException as {@link #restore(DocumentName, OptionalLong, DocumentName)}
     */
    void restore(Manifest manifest, Generation generation, boolean chosen, Outcome<Restored> outcome) {
        int attempts = 1;
        while (true) {
            try {
                attempt(manifest, generation, chosen, outcome);
                return;
            } catch (DocumentException refused) {
                if (refused.reason() != DocumentException.Reason.CHANGED_MEANWHILE || attempts++ == MAX_ATTEMPTS) {
                    throw refused;
                }
            }
        }
    }

    private void attempt(Manifest manifest, Generation generation, boolean chosen, Outcome<Restored> outcome) {
        DocumentName name = manifest.name();
        DocumentInfo local = documents.peek(name);
        boolean deleted = documents.deletionPending(name);
        MergePlan plan = MergePlan.of(manifest, generation, chosen, deleted, local);
        Source source = deleted ? Source.of(manifest, generation).asNew() : Source.of(manifest, generation);
        if (local == null) {
            restorer.create(source, outcome);
        } else if (plan instanceof MergePlan.Append) {
            outcome.success(new Merge(archive, documents, source, local).run());
        } else {
            outcome.success(Restored.unchanged(name, generation, local));
        }
    }
}
