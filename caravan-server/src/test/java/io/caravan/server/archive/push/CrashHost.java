package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.engine.Engine;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.PruneRecord;
import io.caravan.server.archive.Pruning;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.ScanPage.Found;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.testing.CrashStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** A server without threads or sockets: documents on a disk that can crash, and an archive that the server owns. */
final class CrashHost implements AutoCloseable {
    private static final int KIB = 1024;
    private static final int MAX_VALUE_BYTES = 16 * KIB;
    /** A policy that prunes all generations except the newest. */
    private static final Policies POLICY = name -> new PrunePolicy(1, Duration.ZERO, 0, PrunePolicy.LEAST_RETAIN);

    private static final StoreConfig CONFIG = StoreConfig.builder(Path.of("disk"))
            .maxValueBytes(MAX_VALUE_BYTES)
            .logBufferBytes(1280 * KIB)
            .logSegmentBytes(1536 * KIB)
            .heapSegmentBytes(1024 * KIB)
            .checkpointFloorBytes(64 * KIB)
            .build();

    private final ListStore store;
    private final DocumentService documents;
    private final InstantSource clock;
    private final Archive archive;
    private final DocumentUploader uploader;

    /** Starts a server on a disk, and takes ownership of the archive. */
    CrashHost(CrashStorage disk, ObjectStore objects, InstantSource clock, LongSupplier random) throws IOException {
        this.clock = clock;
        store = open(disk);
        documents = documents(store);
        archive = Claims.claim(objects, StoreIdentity.of(store), "host", clock);
        uploader = new DocumentUploader(documents, archive, clock, random);
    }

    static ListStore open(CrashStorage disk) throws IOException {
        return Engine.open(CONFIG, disk, System::nanoTime);
    }

    static DocumentService documents(ListStore store) {
        return new DocumentService(store, Catalog.open(store, 0), DocumentDurability.SYNC);
    }

    Archive archive() {
        return archive;
    }

    /**
     * Archives all changes, as the server does in a pass. Archives deletions again at the end, because documents may
     * have been deleted during the pass.
     *
     * @return whether everything was archived
     */
    boolean pass() {
        boolean before = passDeletions();
        boolean all = passDocuments();
        return passDeletions() && all && before;
    }

    private boolean passDeletions() {
        boolean all = true;
        for (DeletionRecord deletion : documents.pendingDeletions()) {
            all &= succeeds(() -> uploader.upload(deletion));
        }
        return all;
    }

    private boolean passDocuments() {
        boolean all = true;
        for (int stripe = 0; stripe < DocumentService.STRIPES; stripe++) {
            for (Found found : documents.stripe(stripe)) {
                if (!found.info().archived()) {
                    all &= succeeds(() -> uploader.upload(found.name(), true));
                }
            }
        }
        return all;
    }

    private static boolean succeeds(Runnable push) {
        try {
            push.run();
            return true;
        } catch (ObjectStoreException fault) {
            return false;
        }
    }

    /** Prunes as much as the policy allows, and returns whether pruning reported no problems. */
    boolean prune() {
        return succeeds(() -> assertThat(prune(archive(), clock.millis())).isEmpty());
    }

    /** Prunes as much of an archive as the policy allows, and returns the problems. */
    static List<String> prune(Archive archive, long nowMillis) {
        PruneRecord record = new PruneRecord();
        new Pruning(archive, POLICY, nowMillis, false, record).run(1);
        return record.problems;
    }

    void append(String name, List<String> values) {
        List<byte[]> bytes = values.stream()
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .toList();
        change(name, document -> document.append(bytes));
    }

    void trim(String name, long firstSequence) {
        change(name, document -> {
            document.trimTo(firstSequence);
            return firstSequence;
        });
    }

    void delete(String name) {
        change(name, EditedDocument::delete);
    }

    /** Changes a document and waits until the change is durable. */
    private <T> void change(String name, Function<EditedDocument, T> change) {
        Outcome.<T>await(outcome -> documents.write(DocumentName.of(name), change, outcome));
    }

    /** Returns all documents of this host. */
    Map<String, CrashState> contents() {
        return contents(documents);
    }

    /** Returns all documents of a store. */
    static Map<String, CrashState> contents(DocumentService documents) {
        Map<String, CrashState> contents = new TreeMap<>();
        for (int stripe = 0; stripe < DocumentService.STRIPES; stripe++) {
            for (Found found : documents.stripe(stripe)) {
                Reader reader = new Reader();
                documents.snapshot(found.name(), reader);
                contents.put(found.name().text(), reader.state());
            }
        }
        return contents;
    }

    private static final class Reader implements DocumentReader {
        private final List<String> values = new ArrayList<>();
        private long firstSequence;

        @Override
        public boolean begin(DocumentInfo info) {
            firstSequence = info.firstSequence();
            return true;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            return values.add(StandardCharsets.UTF_8.decode(value).toString());
        }

        CrashState state() {
            return new CrashState(firstSequence, values);
        }
    }

    /** Stops the server. */
    @Override
    public void close() {
        documents.close();
        store.close();
    }
}
