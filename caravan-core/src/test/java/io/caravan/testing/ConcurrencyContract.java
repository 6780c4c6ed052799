package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListInfo;
import io.caravan.SequenceConflictException;
import io.caravan.TrimmedException;
import io.caravan.WriteBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests concurrent calls from many threads. */
public interface ConcurrencyContract extends ContractFixture {

    int THREADS = 4;
    int APPENDS = 300;

    @Test
    default void concurrentAppendsGetDenseSequencesInThreadOrder() {
        onEachThread(writer -> appendAll(1, writer));
        List<String> texts = texts(store(), 1);
        assertThat(texts).hasSize(THREADS * APPENDS);
        for (int i = 0; i < texts.size(); i++) {
            assertThat(texts.get(i)).startsWith(i + ":");
        }
        for (int writer = 0; writer < THREADS; writer++) {
            assertThat(turnsOf(writer, texts))
                    .isEqualTo(IntStream.range(0, APPENDS).boxed().toList());
        }
    }

    private static void onEachThread(IntFunction<Crew.Work> work) {
        try (Crew crew = new Crew()) {
            IntStream.range(0, THREADS).mapToObj(work).forEach(crew::add);
            crew.run();
        }
    }

    private Crew.Work appendAll(long id, int writer) {
        return () -> {
            List<CompletableFuture<Long>> sequences = new ArrayList<>();
            for (int turn = 0; turn < APPENDS; turn++) {
                sequences.add(store().append(id, bytes(writer + "," + turn)));
            }
            long before = -1;
            for (CompletableFuture<Long> sequence : sequences) {
                assertThat(await(sequence)).isGreaterThan(before);
                before = await(sequence);
            }
        };
    }

    private static List<Integer> turnsOf(int writer, List<String> texts) {
        return texts.stream()
                .map(text -> text.substring(text.indexOf(':') + 1).split(","))
                .filter(parts -> parts[0].equals("" + writer))
                .map(parts -> Integer.valueOf(parts[1]))
                .toList();
    }

    @Test
    default void appendsToSeparateListsDoNotInterfere() {
        onEachThread(writer -> appendAll(writer, writer));
        for (int writer = 0; writer < THREADS; writer++) {
            List<String> expected = new ArrayList<>();
            for (int turn = 0; turn < APPENDS; turn++) {
                expected.add(turn + ":" + writer + "," + turn);
            }
            assertThat(texts(store(), writer)).isEqualTo(expected);
        }
    }

    @Test
    default void callbacksRunInSequenceOrderAcrossThreads() {
        Completions completions = new Completions();
        onEachThread(writer -> () -> {
            for (int turn = 0; turn < 10 * APPENDS; turn++) {
                store().append(1, bytes("x"), completions.callback(writer));
            }
        });
        assertThat(completions.await(THREADS * (10 * APPENDS)))
                .extracting(Completions.Completion::sequence)
                .isEqualTo(IntStream.range(0, THREADS * (10 * APPENDS))
                        .mapToObj(Long::valueOf)
                        .toList());
    }

    @Test
    default void onlyOneBatchWithSameExpectationSucceeds() {
        onEachThread(writer -> () -> {
            for (int turn = 0; turn < 25; turn++) {
                appendWhenItIsMyTurn(writer + "," + turn);
            }
        });
        assertThat(texts(store(), 1)).hasSize(THREADS * 25);
        for (int writer = 0; writer < THREADS; writer++) {
            assertThat(turnsOf(writer, texts(store(), 1)))
                    .isEqualTo(IntStream.range(0, 25).boxed().toList());
        }
    }

    /** Reads the next sequence, appends a value at exactly that sequence, and retries if another thread was faster. */
    private void appendWhenItIsMyTurn(String text) {
        long expected = nextSequence(1);
        while (true) {
            WriteBatch batch = WriteBatch.create().expect(1, expected).append(1, bytes(text));
            try {
                assertThat(awaitWrite(acknowledged -> store().write(batch, acknowledged)))
                        .isEqualTo(expected);
                return;
            } catch (SequenceConflictException conflict) {
                assertThat(conflict.actual()).isGreaterThan(expected);
                expected = conflict.actual();
            }
        }
    }

    @Test
    default void readsSeeConsistentListsDuringConcurrentWrites() {
        AtomicBoolean done = new AtomicBoolean();
        try (Crew crew = new Crew()) {
            crew.add(() -> writeIncarnations(done));
            crew.add(() -> readAll(done));
            crew.add(() -> readAll(done));
            crew.add(() -> readFromTheMiddle(done));
            crew.run();
        }
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    /** Creates and deletes one list repeatedly. Each value contains its incarnation and its sequence. */
    private void writeIncarnations(AtomicBoolean done) {
        try {
            for (int incarnation = 0; incarnation < 12; incarnation++) {
                writeIncarnation(incarnation);
                store().delete(1, NO_CALLBACK);
            }
            store().flush();
        } finally {
            done.set(true);
        }
    }

    private void writeIncarnation(int incarnation) {
        for (int sequence = 0; sequence < 60; sequence++) {
            store().append(1, valueOf(incarnation, sequence), NO_CALLBACK);
            store().append(2, valueOf(incarnation, sequence), NO_CALLBACK);
            if (sequence % 10 == 9) {
                store().trim(1, 7, NO_CALLBACK);
                store().trim(2, 10, NO_CALLBACK);
            }
        }
    }

    private static byte[] valueOf(int incarnation, int sequence) {
        return bytes(incarnation + "," + sequence + "," + "x".repeat(sequence % 30));
    }

    private void readAll(AtomicBoolean done) {
        while (!done.get()) {
            List<String> texts = new ArrayList<>();
            store().get(1, each((sequence, value) -> texts.add(sequence + ":" + UTF_8.decode(value))));
            assertCompleteAndOfOneIncarnation(texts);
        }
    }

    private void readFromTheMiddle(AtomicBoolean done) {
        while (!done.get()) {
            try {
                ListInfo info = store().info(1);
                long from = info == null ? 0 : info.firstSequence() + info.count() / 2;
                assertCompleteAndOfOneIncarnation(texts(store(), 1, from));
            } catch (TrimmedException trimmed) {
                assertThat(trimmed.firstSequence()).isPositive();
            }
        }
    }

    private static void assertCompleteAndOfOneIncarnation(List<String> texts) {
        if (texts.isEmpty()) {
            return;
        }
        long first = sequenceIn(texts.get(0));
        int incarnation = incarnationOf(texts.get(0));
        for (int i = 0; i < texts.size(); i++) {
            int sequence = (int) first + i;
            assertThat(texts.get(i)).isEqualTo(sequence + ":" + new String(valueOf(incarnation, sequence), UTF_8));
        }
    }

    private static long sequenceIn(String text) {
        return Long.parseLong(text.substring(0, text.indexOf(':')));
    }

    private static int incarnationOf(String text) {
        return Integer.parseInt(text.substring(text.indexOf(':') + 1, text.indexOf(',')));
    }

    @Test
    default void concurrentReadersSeeAllAcknowledgedAppends() {
        AtomicBoolean done = new AtomicBoolean();
        Completions completions = new Completions();
        try (Crew crew = new Crew()) {
            crew.add(() -> {
                for (int i = 0; i < APPENDS; i++) {
                    store().append(1, bytes("x"), completions.callback(i));
                }
                completions.await(APPENDS);
                done.set(true);
            });
            for (int reader = 1; reader < THREADS; reader++) {
                crew.add(() -> {
                    while (!done.get()) {
                        int acknowledged = completions.all().size();
                        assertThat(texts(store(), 1)).hasSizeGreaterThanOrEqualTo(acknowledged);
                    }
                });
            }
            crew.run();
        }
    }

    @Test
    default void flushesCheckpointsAndWritesRunConcurrently() {
        AtomicBoolean done = new AtomicBoolean();
        try (Crew crew = new Crew()) {
            crew.add(() -> {
                try {
                    appendAll(1, 0).run();
                } finally {
                    done.set(true);
                }
            });
            crew.add(() -> {
                while (!done.get()) {
                    store().flush();
                }
            });
            crew.add(() -> {
                while (!done.get()) {
                    store().checkpoint();
                }
            });
            crew.run();
        }
        assertThat(texts(store(), 1)).hasSize(APPENDS);
    }
}
