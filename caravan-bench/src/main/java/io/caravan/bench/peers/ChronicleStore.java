package io.caravan.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LargeRollCycles;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * A Chronicle Queue with one excerpt for each entry; the excerpt contains the list id and the value.
 *
 * <p>The queue has no lists, so a read scans the entire queue in order and skips the entries of other documents. Its
 * roll cycle indexes sparsely and never ends within a measurement. Its block size is 64 MiB. It runs without a
 * pretoucher, which would be another thread on the same cores. When synced, each commit calls {@code sync()} in mode
 * SYNC: an msync that waits for everything appended.
 */
final class ChronicleStore implements PeerStore {
    private static final int BLOCK_BYTES = 64 << 20;

    static {
        // Without these properties, Chronicle Queue announces its start on the terminal and over the network.
        System.setProperty("chronicle.announcer.disable", "true");
        System.setProperty("chronicle.analytics.disable", "true");
    }

    private final boolean synced;
    private final ChronicleQueue queue;
    private final ExcerptAppender appender;
    private final Bytes<?> excerpt = Bytes.allocateElasticDirect();

    ChronicleStore(Path directory, boolean synced) {
        this.synced = synced;
        queue = SingleChronicleQueueBuilder.binary(directory)
                .rollCycle(LargeRollCycles.LARGE_DAILY)
                .blockSize(BLOCK_BYTES)
                .syncMode(synced ? SyncMode.SYNC : SyncMode.NONE)
                .build();
        appender = queue.createAppender();
        // The opening thread hands the appender to the appending thread. They never use it at the same time.
        appender.singleThreadedCheckDisabled(true);
    }

    @Override
    public void append(long id, byte[] value) {
        excerpt.clear();
        excerpt.writeLong(id).write(value);
        appender.writeBytes(excerpt);
    }

    @Override
    public void commit() {
        if (synced) {
            appender.sync();
        }
    }

    @Override
    public PeerReader reader() {
        return new Reader(queue.createTailer());
    }

    @Override
    public void close() {
        appender.close();
        queue.close();
        excerpt.releaseLast();
    }

    private static final class Reader implements PeerReader {
        private final ExcerptTailer tailer;
        private byte[] value = new byte[1024];

        Reader(ExcerptTailer tailer) {
            this.tailer = tailer;
            tailer.singleThreadedCheckDisabled(true);
        }

        @Override
        public void read(long id, Sink sink) {
            scan(id, id + 1, sink);
        }

        /** Reads all lists in one scan of the queue. */
        @Override
        public void readAll(long ids, Sink sink) {
            scan(0, ids, sink);
        }

        private void scan(long from, long to, Sink sink) {
            tailer.toStart();
            while (true) {
                try (DocumentContext document = tailer.readingDocument()) {
                    if (!document.isPresent()) {
                        return;
                    }
                    Bytes<?> bytes = Objects.requireNonNull(document.wire()).bytes();
                    long id = bytes.readLong();
                    if (id >= from && id < to) {
                        sink.value(valueOf(bytes));
                    }
                }
            }
        }

        private ByteBuffer valueOf(Bytes<?> bytes) {
            int length = (int) bytes.readRemaining();
            if (length > value.length) {
                value = new byte[length];
            }
            bytes.read(value, 0, length);
            return ByteBuffer.wrap(value, 0, length);
        }

        @Override
        public void close() {
            tailer.close();
        }
    }
}
