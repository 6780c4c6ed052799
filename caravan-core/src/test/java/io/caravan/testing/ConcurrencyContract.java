package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.told;
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

/** Calls of many threads at the same time. */
public interface ConcurrencyContract extends ContractFixture {

    int THREADS = 4;
    int APPENDS = 300;

    @Test
    default void appendsOfSeveralThreadsToOneListGetDenseSequencesAndKeepEachThreadsOrder() {
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
    default void appendsOfSeveralThreadsToListsOfTheirOwnDoNotMeet() {
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
    default void callbacksOfSeveralThreadsAreToldInTheOrderOfTheSequences() {
        Tellings tellings = new Tellings();
        onEachThread(writer -> () -> {
            for (int turn = 0; turn < 10 * APPENDS; turn++) {
                store().append(1, bytes("x"), tellings.callback(writer));
            }
        });
        assertThat(tellings.await(THREADS * (10 * APPENDS)))
                .extracting(Tellings.Telling::sequence)
                .isEqualTo(IntStream.range(0, THREADS * (10 * APPENDS))
                        .mapToObj(Long::valueOf)
                        .toList());
    }

    @Test
    default void ofSeveralBatchesWithTheSameExpectationOneWins() {
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

    /** Reads the next sequence, appends with it as the expectation, and retries if another thread was faster. */
    private void appendWhenItIsMyTurn(String text) {
        long expected = nextSequence(1);
        while (true) {
            WriteBatch batch = WriteBatch.create().expect(1, expected).append(1, bytes(text));
            try {
                assertThat(told(told -> store().write(batch, told))).isEqualTo(expected);
                return;
            } catch (SequenceConflictException conflict) {
                assertThat(conflict.actual()).isGreaterThan(expected);
                expected = conflict.actual();
            }
        }
    }

    @Test
    default void readsSeeWholeListsWhileOthersAppendTrimAndDelete() {
        AtomicBoolean done = new AtomicBoolean();
        try (Crew crew = new Crew()) {
            crew.add(() -> writeLives(done));
            crew.add(() -> readWhole(done));
            crew.add(() -> readWhole(done));
            crew.add(() -> readFromTheMiddle(done));
            crew.run();
        }
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    /** Creates and deletes one list repeatedly. Each value contains its incarnation and its sequence. */
    private void writeLives(AtomicBoolean done) {
        try {
            for (int life = 0; life < 12; life++) {
                writeLife(life);
                store().delete(1, NOBODY);
            }
            store().flush();
        } finally {
            done.set(true);
        }
    }

    private void writeLife(int life) {
        for (int sequence = 0; sequence < 60; sequence++) {
            store().append(1, valueOf(life, sequence), NOBODY);
            store().append(2, valueOf(life, sequence), NOBODY);
            if (sequence % 10 == 9) {
                store().trim(1, 7, NOBODY);
                store().trim(2, 10, NOBODY);
            }
        }
    }

    private static byte[] valueOf(int life, int sequence) {
        return bytes(life + "," + sequence + "," + "x".repeat(sequence % 30));
    }

    private void readWhole(AtomicBoolean done) {
        while (!done.get()) {
            List<String> texts = new ArrayList<>();
            store().get(1, each((sequence, value) -> texts.add(sequence + ":" + UTF_8.decode(value))));
            assertWholeAndOfOneLife(texts);
        }
    }

    private void readFromTheMiddle(AtomicBoolean done) {
        while (!done.get()) {
            try {
                ListInfo info = store().info(1);
                long from = info == null ? 0 : info.firstSequence() + info.count() / 2;
                assertWholeAndOfOneLife(texts(store(), 1, from));
            } catch (TrimmedException trimmed) {
                assertThat(trimmed.firstSequence()).isPositive();
            }
        }
    }

    private static void assertWholeAndOfOneLife(List<String> texts) {
        if (texts.isEmpty()) {
            return;
        }
        long first = sequenceOf(texts.get(0));
        int life = lifeOf(texts.get(0));
        for (int i = 0; i < texts.size(); i++) {
            int sequence = (int) first + i;
            assertThat(texts.get(i)).isEqualTo(sequence + ":" + new String(valueOf(life, sequence), UTF_8));
        }
    }

    private static long sequenceOf(String text) {
        return Long.parseLong(text.substring(0, text.indexOf(':')));
    }

    private static int lifeOf(String text) {
        return Integer.parseInt(text.substring(text.indexOf(':') + 1, text.indexOf(',')));
    }

    @Test
    default void readersOnManyThreadsSeeEveryAppendThatWasToldBeforeTheyAsked() {
        AtomicBoolean done = new AtomicBoolean();
        Tellings tellings = new Tellings();
        try (Crew crew = new Crew()) {
            crew.add(() -> {
                for (int i = 0; i < APPENDS; i++) {
                    store().append(1, bytes("x"), tellings.callback(i));
                }
                tellings.await(APPENDS);
                done.set(true);
            });
            for (int reader = 1; reader < THREADS; reader++) {
                crew.add(() -> {
                    while (!done.get()) {
                        int told = tellings.all().size();
                        assertThat(texts(store(), 1)).hasSizeGreaterThanOrEqualTo(told);
                    }
                });
            }
            crew.run();
        }
    }

    @Test
    default void flushesCheckpointsAndWritesMayMeet() {
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
