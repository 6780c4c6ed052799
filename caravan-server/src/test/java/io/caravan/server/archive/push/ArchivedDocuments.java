package io.caravan.server.archive.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.ListStore;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.Lease;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** In-memory documents with an archive, which is also in memory unless the test specifies another location. */
final class ArchivedDocuments implements AutoCloseable {
    static final Duration SOON = Duration.ofMillis(200);
    static final Duration NEVER = Duration.ofHours(10);

    final ListStore store;
    private final DocumentDurability durability;
    MemoryObjects objects = new MemoryObjects(InstantSource.system());
    MemoryObjectStore client = objects.client();
    DocumentService documents;
    /** A clock that skips the waiting time when the archive changes owners. */
    Lease.Clock leaseClock = new Claims.SkippedTime();
    /** The maximum delay before the archiver retries after a failure. */
    Duration longestDelay = Duration.ofMillis(50);

    private @Nullable Archiver archiver;

    ArchivedDocuments() {
        this(ListStore.inMemory());
    }

    ArchivedDocuments(ListStore store) {
        this(store, DocumentDurability.SYNC);
    }

    /** Creates documents in the store, with this durability for writes to them. */
    ArchivedDocuments(ListStore store, DocumentDurability durability) {
        this.store = store;
        this.durability = durability;
        this.documents = open();
    }

    private DocumentService open() {
        return new DocumentService(store, Catalog.open(store, 0), durability);
    }

    /** Replaces the archive with one that another instance has filled. */
    void useArchive(MemoryObjects archive) {
        objects = archive;
        client = archive.client();
    }

    /** Starts an archiver that archives each change to memory within {@code after}. */
    Archiver archive(Duration after) {
        return archive(client, after);
    }

    Archiver archive(ObjectStore place, Duration after) {
        return archive(Claims.config("memory:", () -> place, true, false, false, after, 4, 0, false));
    }

    /** Takes ownership of the in-memory archive, regardless of its contents and its previous owner. */
    Archiver takeOver(Duration after) {
        MemoryObjectStore place = client;
        return archive(Claims.config("memory:", () -> place, true, false, true, after, 4, 0, false));
    }

    /** Starts an archiver that archives on demand, and prunes all but this number of generations of each document. */
    Archiver archivePruning(int generations) {
        PrunePolicy policy = new PrunePolicy(generations, Duration.ZERO, 0, PrunePolicy.LEAST_RETAIN);
        ArchiveConfig.Pruning pruning = new ArchiveConfig.Pruning(policy, Duration.ofMillis(1));
        return archive(new ArchiveConfig(
                "memory:", () -> client, true, false, false, NEVER, 1, 0, false, pruning, leaseClock));
    }

    Archiver archive(ArchiveConfig config) {
        archiver = Archiver.start(
                documents,
                store,
                new ArchiveConfig(
                        config.location(),
                        config.place(),
                        config.atHand(),
                        config.adopts(),
                        config.takeover(),
                        config.after(),
                        config.concurrency(),
                        config.bytesPerSecond(),
                        config.onStop(),
                        config.pruning(),
                        leaseClock),
                longestDelay);
        return archiver;
    }

    /** Restarts the server with a new archive client, as if its process had been shut down or killed. */
    void restart() {
        stop();
        client = objects.client();
        documents = open();
    }

    /** Replaces the archive with an empty one. */
    void loseArchive() {
        objects = new MemoryObjects(InstantSource.system());
    }

    private void stop() {
        if (archiver != null) {
            archiver.close();
        }
        documents.close();
    }

    void push(String name, String... values) {
        List<byte[]> bytes =
                Stream.of(values).map(value -> value.getBytes(UTF_8)).toList();
        write(name, document -> document.append(bytes));
    }

    void trim(String name, long to) {
        write(name, document -> {
            document.trimTo(to);
            return true;
        });
    }

    /** Damages the document's mark, so that scans of its slot fail. */
    void damageMark(String name) {
        write(name, document -> {
            document.attributes(DocumentAttributes.of(Attributes.EMPTY.with("archived", new byte[1])));
            return true;
        });
    }

    void delete(String name) {
        write(name, EditedDocument::delete);
    }

    private <T> void write(String name, Function<EditedDocument, T> change) {
        Outcome.<T>await(outcome -> documents.write(name(name), change, outcome));
    }

    /** Sets the maximum age of unarchived changes for a name prefix. The value 0 restores the server's default. */
    void archiveAfter(String prefix, long seconds) {
        set(prefix, SpaceSetting.ARCHIVE_AFTER, seconds);
    }

    void set(String prefix, SpaceSetting setting, long value) {
        documents.spaces().set(Prefix.of(prefix.getBytes(UTF_8)), before -> before.with(setting, value));
    }

    static DocumentName name(String name) {
        return DocumentName.of(name);
    }

    DocumentInfo info(String name) {
        return documents.find(name(name));
    }

    boolean archived(String name) {
        return info(name).archived();
    }

    void awaitArchived(String... names) {
        Eventually.await("archived: " + List.of(names), () -> Stream.of(names).allMatch(this::archived));
    }

    /** Returns the manifest of a document, or null. */
    @Nullable
    Manifest manifest(String name) {
        KeptManifest kept = Archive.open(objects.client()).manifest(name(name));
        return kept == null ? null : kept.manifest();
    }

    Generation latest(String name) {
        return manifest(name).latest();
    }

    /** Returns the values of the latest generation as text. */
    List<String> values(String name) {
        return Archiving.read(Archive.open(objects.client()), name(name), latest(name));
    }

    @Override
    public void close() {
        stop();
        store.close();
    }
}
