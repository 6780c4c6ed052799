package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.CorruptStoreException;
import io.caravan.engine.FaultyStore.Place;
import io.caravan.format.EntryLayout;
import io.caravan.testing.LongTimeout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invariant 4: every byte read back is checked, and an entry is bound to its list's id and creation LSN, and to its
 * sequence. Errors report file, offset, id, and sequence. (Other tests cover damage to log and checkpoint files.)
 */
@LongTimeout
class Invariant04EveryByteReadIsCheckedTest {

    @ParameterizedTest
    @ValueSource(strings = {LOG, HEAP})
    void reportsEveryFlippedBitOfEntry(String space) {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 5, "before", "the victim", "after");
            assertThat(texts(store.engine, 5)).hasSize(3);
            Place entry = entryOf(store, space, "the victim");
            ByteBuffer file = store.disk.bytes(entry.file());
            for (int i = 0; i < EntryLayout.VALUE + "the victim".length(); i++) {
                for (int bit = 0; bit < Byte.SIZE; bit++) {
                    flip(file, entry.offset() + i, bit);
                    assertReported(store, entry, 5, 1, List.of("0:before"));
                    flip(file, entry.offset() + i, bit);
                }
            }
            assertThat(texts(store.engine, 5)).containsExactly("0:before", "1:the victim", "2:after");
        }
    }

    private static void flip(ByteBuffer file, int at, int bit) {
        file.put(at, (byte) (file.get(at) ^ 1 << bit));
    }

    /** Returns the place of the entry that contains the appended text. For the heap, makes a checkpoint first. */
    private static Place entryOf(FaultyStore store, String space, String text) {
        if (space.equals(HEAP)) {
            store.engine.checkpoint();
        }
        Place value = store.find(space, bytes(text));
        return new Place(value.file(), value.offset() - EntryLayout.VALUE);
    }

    /** Checks that a read yields the entries before this one, and then reports exactly this one as damaged. */
    private static void assertReported(FaultyStore store, Place entry, long id, long sequence, List<String> before) {
        List<String> given = new ArrayList<>();
        CorruptStoreException problem = catchThrowableOfType(
                CorruptStoreException.class,
                () -> store.engine.get(id, each((at, value) -> given.add(at + ":" + UTF_8.decode(value)))));
        assertThat(problem).as("what the read threw").isNotNull();
        assertThat(given).isEqualTo(before);
        assertThat(problem.file()).isEqualTo(store.disk.describe(entry.file()));
        assertThat(problem.offset()).isEqualTo(entry.offset());
        assertThat(problem.id()).isEqualTo(id);
        assertThat(problem.sequence()).isEqualTo(sequence);
        assertThat(problem)
                .hasMessageContaining(entry.file())
                .hasMessageContaining("offset " + entry.offset())
                .hasMessageContaining("document " + id)
                .hasMessageContaining("sequence " + sequence);
    }

    @ParameterizedTest
    @ValueSource(strings = {LOG, HEAP})
    void rejectsEntryOfAnotherList(String space) {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "same length A");
            append(store.engine, 2, "same length B");
            assertThat(texts(store.engine, 2)).hasSize(1);
            Place target = entryOf(store, space, "same length A");
            copy(store, entryOf(store, space, "same length B"), target, "same length B".length());
            assertReported(store, target, 1, 0, List.of());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {LOG, HEAP})
    void rejectsOtherEntryOfSameList(String space) {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "same length A", "same length B");
            assertThat(texts(store.engine, 1)).hasSize(2);
            Place target = entryOf(store, space, "same length B");
            copy(store, entryOf(store, space, "same length A"), target, "same length A".length());
            assertReported(store, target, 1, 1, List.of("0:same length A"));
        }
    }

    private static void copy(FaultyStore store, Place from, Place to, int length) {
        byte[] entry = new byte[EntryLayout.entryBytes(length)];
        store.disk.bytes(from.file()).get(from.offset(), entry);
        store.disk.bytes(to.file()).put(to.offset(), entry);
    }

    /** Checks that an entry is rejected if only the creation LSN of its list is wrong. */
    @Test
    void rejectsEntryOfEarlierIncarnation() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "the same value");
            assertThat(texts(store.engine, 1)).hasSize(1);
            Place former = entryOf(store, HEAP, "the same value");
            byte[] stale = new byte[EntryLayout.entryBytes("the same value".length())];
            store.disk.bytes(former.file()).get(former.offset(), stale);
            awaitWrite(reported -> store.engine.delete(1, reported));
            store.disk.bytes(former.file()).put(former.offset(), new byte[stale.length]);

            append(store.engine, 1, "the same value");
            assertThat(texts(store.engine, 1)).containsExactly("0:the same value");
            Place entry = entryOf(store, HEAP, "the same value");
            store.disk.bytes(entry.file()).put(entry.offset(), stale);
            assertReported(store, entry, 1, 0, List.of());
        }
    }

    @Test
    void reportsEntryThatWasNeverWritten() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a value");
            append(store.engine, 1, "");
            assertThat(texts(store.engine, 1)).hasSize(2);
            Place entry = entryOf(store, HEAP, "a value");
            store.disk.bytes(entry.file()).put(entry.offset(), new byte[EntryLayout.entryBytes("a value".length())]);
            assertReported(store, entry, 1, 0, List.of());
            // An empty value has length zero, like a hole of zeros, but its checksum is not zero.
            assertThat(texts(store.engine, 1, 1)).containsExactly("1:");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {LOG, HEAP})
    void damageDoesNotAffectOtherEntries(String space) {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "the victim");
            append(store.engine, 2, "a bystander");
            assertThat(texts(store.engine, 2)).hasSize(1);
            Place entry = entryOf(store, space, "the victim");
            flip(store.disk.bytes(entry.file()), entry.offset() + EntryLayout.VALUE, 0);
            assertReported(store, entry, 1, 0, List.of());
            assertThat(texts(store.engine, 2)).containsExactly("0:a bystander");
            assertThat(append(store.engine, 1, "goes on")).isEqualTo(1);
            assertThat(texts(store.engine, 1, 1)).containsExactly("1:goes on");
            assertThat(store.engine.stats().pinnedReaders()).isZero();
        }
    }
}
