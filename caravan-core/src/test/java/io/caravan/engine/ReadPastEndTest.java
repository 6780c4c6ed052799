package io.caravan.engine;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.EntryStream;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.WatchedScheduler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reads that start after the end of their list, which pin no entry, but need the list's record. */
@LongTimeout
class ReadPastEndTest {
    /** Number of lists whose records take several pages of the index. */
    private static final int LISTS = 2_000;

    private static final String READER = "reader";
    private final CountDownLatch released = new CountDownLatch(1);

    /** Holds a reader between its pin and its wait for the last write. */
    private final WatchedScheduler threads = new WatchedScheduler() {
        @Override
        public void handOver() {
            if (Thread.currentThread().getName().equals(READER)) {
                StoreCalls.await(released, "the reader was not released");
            }
        }
    };

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 1L << 40, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void readerKeepsRecordOfDeletedList(long from) throws Exception {
        try (Engine engine = Engine.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime, threads)) {
            for (int id = 1; id <= LISTS; id++) {
                engine.append(id, bytes(1, id), NO_CALLBACK);
            }
            List<Long> read = new ArrayList<>();
            FutureTask<Boolean> reading = new FutureTask<>(() -> readFrom(engine, from, read));
            Thread reader = new Thread(reading, READER);
            reader.start();
            Eventually.await("a pin", () -> engine.stats().pinnedReaders() == 1);

            for (int id = 1; id <= LISTS; id++) {
                engine.delete(id, NO_CALLBACK);
            }
            engine.flush();
            threads.awaitRest();
            engine.checkpoint();
            assertThat(engine.layout().pinsComplete()).isTrue();

            released.countDown();
            assertThat(await(reading)).as("finished").isTrue();
            assertThat(read).isEmpty();
            assertThat(engine.stats().pinnedReaders()).isZero();
        }
    }

    /** Reads the last list from a sequence on. Returns whether the read has finished. */
    private static boolean readFrom(Engine engine, long from, List<Long> read) {
        boolean[] finished = {false};
        engine.get(LISTS, from, new EntryStream() {
            @Override
            public boolean next(long sequence, ByteBuffer value) {
                return read.add(sequence);
            }

            @Override
            public void finished() {
                finished[0] = true;
            }
        });
        return finished[0];
    }

    /** Checks that a read past the end does not use up the entries that a survey of the layout may visit. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 1L << 40, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void surveyCountsPinsOfOtherReaders(long from) throws Exception {
        try (Engine engine = Engine.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime, threads)) {
            await(engine.append(LISTS, bytes(1, 1)));
            await(engine.append(1, bytes(100, 1)));
            engine.checkpoint();
            FutureTask<Boolean> reading = new FutureTask<>(() -> readFrom(engine, from, new ArrayList<>()));
            new Thread(reading, READER).start();
            Eventually.await("a pin", () -> engine.stats().pinnedReaders() == 1);
            engine.get(1, StoreCalls.each((sequence, value) -> {
                assertThat(engine.layout().pinsComplete()).isTrue();
                assertThat(engine.layout().heap().get(0).pinnedBytes()).isGreaterThan(100);
            }));
            released.countDown();
            assertThat(await(reading)).isTrue();
        }
    }
}
