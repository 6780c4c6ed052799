package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.fuzz.MemoryUse;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.StoreIdentity;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LargeDocumentTest {
    private static final int VALUE_BYTES = 1 << 20;
    private static final int VALUES = 64;
    private static final long ROOM_BYTES = 8 << 20;

    /** An object store that discards snapshots, which would otherwise dominate the measured memory. */
    private static final class Sink extends ForwardingObjectStore {
        private final AtomicLong bytes = new AtomicLong();

        Sink(ObjectStore store) {
            super(store);
        }

        @Override
        public void put(String key, Content content) {
            try {
                content.writeTo(new OutputStream() {
                    @Override
                    public void write(int value) {
                        bytes.incrementAndGet();
                    }

                    @Override
                    public void write(byte[] values, int offset, int length) {
                        bytes.addAndGet(length);
                    }
                });
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }

    /**
     * A large document must be archived in bounded memory. The store is on disk, because an in-memory one would count.
     * The values are in the heap, where readers use them in place; values in the log would be copied.
     */
    @Test
    @Tag("slow")
    void archivesLargeDocumentInBoundedMemory(@TempDir Path directory) throws Exception {
        StoreConfig config = StoreConfig.builder(directory)
                .logSegmentBytes(8 << 20)
                .heapSegmentBytes(4 << 20)
                .build();
        try (ArchivedDocuments server = new ArchivedDocuments(DurableListStore.open(config))) {
            byte[] value = new byte[VALUE_BYTES];
            new Random(1).nextBytes(value);
            Sink sink = new Sink(server.client);
            Archive archive = Claims.claim(sink, StoreIdentity.of(server.store), "test", InstantSource.system());
            AtomicLong incarnations = new AtomicLong();
            DocumentUploader uploader = new DocumentUploader(
                    server.documents, archive, InstantSource.system(), incarnations::incrementAndGet);
            for (int i = 0; i < VALUES; i++) {
                append(server, value);
            }
            server.store.checkpoint();
            MemoryUse.within(ROOM_BYTES, () -> {
                append(server, value);
                assertThat(uploader.upload(ArchivedDocuments.name("large"), true)
                                .uploaded())
                        .isTrue();
            });
            assertThat(sink.bytes.get()).isGreaterThan((long) VALUES * VALUE_BYTES);
            assertThat(server.archived("large")).isTrue();
        }
    }

    private static void append(ArchivedDocuments server, byte[] value) {
        Outcome.<Long>await(outcome -> server.documents.write(
                ArchivedDocuments.name("large"), document -> document.append(List.of(value)), outcome));
    }
}
