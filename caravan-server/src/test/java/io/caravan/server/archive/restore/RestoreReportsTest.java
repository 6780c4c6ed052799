package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.catalog.Attributes;
import io.caravan.engine.Engine;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.RestoreProgress.Figures;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests when a restore reports documents: once they are durable, also if the restore ends early. */
class RestoreReportsTest {
    private static final int JOBS = 4;

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();
    private final RestoreProgress progress = new RestoreProgress();

    private void restore(DocumentService documents, int jobs) {
        new WholeRestore(archive.open(), documents, jobs, false, progress).run();
    }

    @Test
    void documentsShareFsyncs() {
        int count = 200;
        for (int i = 0; i < count; i++) {
            archive.put("d" + i, i + 1, 0, 3);
        }
        try (DurableListStore store = SmallFiles.open(directory.resolve("data"));
                DocumentService documents = DocumentService.offline(store)) {
            long before = store.stats().fsyncs();
            restore(documents, 1);
            assertThat(progress.figures().restored()).isEqualTo(count);
            assertThat(store.stats().fsyncs() - before).isLessThan(count / 2);
        }
    }

    @Test
    void reportsDocumentsThatAreRestoredBeforeStoreIsFull() {
        for (int i = 0; i < 60; i++) {
            archive.put("d" + i, i + 1, 0, List.of(new byte[40_000]), Attributes.EMPTY);
        }
        StoreConfig config = StoreConfig.builder(directory.resolve("data"))
                .maxValueBytes(64 * 1024)
                .heapSegmentBytes(1 << 20)
                .maxHeapBytes(1L << 20)
                .build();
        try (ListStore store = DurableListStore.open(config);
                DocumentService documents = DocumentService.offline(store)) {
            assertThatThrownBy(() -> restore(documents, JOBS)).isInstanceOf(OutOfSpaceException.class);
            requireReported(documents);
        }
    }

    @Test
    void reportsDocumentsThatAreRestoredBeforeArchiveIsUnreachable() {
        for (int i = 100; i < 300; i++) {
            archive.put("d" + i, i, 0, 3);
        }
        archive.client.faults((number, call, key) -> {
            int at = key.indexOf("/d");
            boolean unreachable =
                    call == ObjectCall.GET && at >= 0 && Integer.parseInt(key.substring(at + 2, at + 5)) >= 200;
            return unreachable ? ObjectFault.RESPONSE_LOST : ObjectFault.NONE;
        });
        try (ListStore store = SmallFiles.open(directory.resolve("data"));
                DocumentService documents = DocumentService.offline(store)) {
            assertThatThrownBy(() -> restore(documents, JOBS)).isInstanceOf(ObjectStoreException.class);
            requireReported(documents);
        }
    }

    /** Checks that at most the documents in progress were not reported. */
    private void requireReported(DocumentService documents) {
        Figures figures = progress.figures();
        assertThat(documents.documents()).isPositive();
        assertThat(figures.restored()).isBetween(documents.documents() - JOBS, documents.documents());
    }

    @Test
    void reportsFailureOfStoreDuringLongDocument() throws IOException {
        archive.put("long", 9, 0, 200_000);
        CrashStorage disk = new CrashStorage(1);
        AtomicBoolean broken = new AtomicBoolean();
        disk.director(call -> broken.get() && call.kind() == Kind.FORCE
                ? CrashStorage.Outcome.FAIL_HALFWAY
                : CrashStorage.Outcome.PASS);
        StoreConfig config = SmallFiles.config(Path.of("crash")).build();
        try (ListStore store = Engine.open(config, disk, System::nanoTime);
                DocumentService documents = DocumentService.offline(store)) {
            broken.set(true);
            assertThatThrownBy(() -> restore(documents, JOBS)).isInstanceOf(StoreFailedException.class);
        }
    }
}
