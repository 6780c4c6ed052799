package io.caravan.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CorruptStoreException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.engine.RecoveryCase;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Faults;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreAnatomy.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that the store rejects wrong data with correct checksums, and reports its file and offset. Fuzzing cannot find
 * these cases, because nothing fails. The cases that fuzzing has found are in the saved inputs.
 */
class LiarsStoreTest {
    private static DirectoryImage sound;
    private static StoreAnatomy anatomy;

    @BeforeAll
    static void forge() throws IOException {
        sound = ForgedStore.image();
        anatomy = StoreAnatomy.of(sound);
    }

    private static Recovered recover(DirectoryImage image) throws IOException {
        return new Recovery(new MemoryStorage(image)).recover();
    }

    private static void assertRejected(DirectoryImage image, String file, int offset, String problem)
            throws IOException {
        assertThatThrownBy(() -> recover(image).close())
                .isInstanceOfSatisfying(CorruptStoreException.class, rejection -> {
                    assertThat(rejection.file()).endsWith(file);
                    assertThat(rejection.offset()).isEqualTo(offset);
                })
                .hasMessageContaining(problem);
        assertThat(Faults.of(image)).anySatisfy(fault -> assertThat(fault).hasMessageContainingAll(file, problem));
    }

    // The last frame: an append to list 4 and a trim of list 2.

    @ParameterizedTest
    @CsvSource({"0", "2", "-1", "9223372036854775807"})
    void rejectsAppendOutOfSequence(long sequence) throws IOException {
        assertRecordRejected(RecordLayout.SEQUENCE, sequence, "follows sequence 0");
    }

    private static void assertRecordRejected(int field, long number, String problem) throws IOException {
        Frame frame = anatomy.lastFrame();
        int record = frame.offset() + FrameLayout.HEADER_BYTES;
        DirectoryImage lie = sound.edited(frame.file(), file -> {
            file.putLong(record + field, number);
            Reseal.frame(file, frame.offset());
        });
        assertRejected(lie, frame.file(), record, problem);
    }

    @Test
    void rejectsTrimOfMissingList() throws IOException {
        Frame frame = anatomy.lastFrame();
        int record = frame.offset() + FrameLayout.HEADER_BYTES + RecordLayout.appendBytes(2);
        DirectoryImage lie = sound.edited(frame.file(), file -> {
            file.putLong(record + RecordLayout.ID, 99);
            Reseal.frame(file, frame.offset());
        });
        assertRejected(lie, frame.file(), record, "changes a list that does not exist");
    }

    @Test
    void rejectsFrameWithWrongRecordCount() throws IOException {
        Frame frame = anatomy.lastFrame();
        DirectoryImage lie = sound.edited(frame.file(), file -> {
            file.putInt(frame.offset() + FrameLayout.RECORD_COUNT, 3);
            Reseal.frame(file, frame.offset());
        });
        assertRejected(lie, frame.file(), frame.offset(), "has 2 records and says 3");
    }

    // Checkpoints

    /** Returns the store with both checkpoints edited, because opening could otherwise use the older one. */
    private static DirectoryImage inBothCheckpoints(String what, EditOfPiece edit) {
        DirectoryImage lie = sound;
        for (String name : sound.names("checkpoint-")) {
            lie = lie.edited(name, file -> {
                forEachPiece(file, at -> edit.of(file, at));
                Reseal.checkpoint(file);
            });
        }
        assertThat(lie.differences(sound)).as(what).hasSize(2);
        return lie;
    }

    private interface EditOfPiece {
        void of(ByteBuffer file, int at);
    }

    /** Runs the action for the first piece of each section. Sections have at most one here. */
    private static void forEachPiece(ByteBuffer file, IntConsumer action) {
        Sections.forEach(file, section -> {
            if (Sections.bytes(file, section) > CheckpointLayout.SECTION_HEADER_BYTES) {
                action.accept(section + CheckpointLayout.SECTION_HEADER_BYTES);
            }
        });
    }

    private static void assertNoCheckpointIsIntact(DirectoryImage lie, String problem) throws IOException {
        assertThatThrownBy(() -> recover(lie).close())
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContaining("no checkpoint is intact")
                .hasStackTraceContaining(problem);
        List<String> names = sound.names("checkpoint-");
        assertThat(Faults.of(lie))
                .hasSize(2)
                .allSatisfy(fault -> assertThat(fault).hasMessageContaining(problem));
        DirectoryImage onlyNewestLies = lie.with(names.get(0), sound.bytes(names.get(0)));
        try (Recovered recovered = recover(onlyNewestLies)) {
            assertThat(recovered.cases()).contains(RecoveryCase.NEWEST_CHECKPOINT_BAD);
            assertThat(StoreAnatomy.contentsOf(recovered).lists()).hasSize(5);
        }
    }

    @Test
    void rejectsListInWrongPartition() throws IOException {
        assertNoCheckpointIsIntact(
                inBothCheckpoints(
                        "id", (file, at) -> file.putLong(at, file.getLong(at + CheckpointLayout.PIECE_ID) + 1)),
                "does not belong to partition");
    }

    @Test
    void rejectsOutOfRangeSequences() throws IOException {
        assertNoCheckpointIsIntact(
                inBothCheckpoints("sequences", (file, at) -> {
                    long count = file.getLong(at + CheckpointLayout.PIECE_NEXT)
                            - file.getLong(at + CheckpointLayout.PIECE_FIRST);
                    file.putLong(at + CheckpointLayout.PIECE_FIRST, Long.MAX_VALUE - count);
                    file.putLong(at + CheckpointLayout.PIECE_NEXT, Long.MAX_VALUE);
                }),
                "has the sequences");
    }

    @ParameterizedTest
    @CsvSource({"0", "4088", "1099511627776"})
    void rejectsEntryOutsideHeap(long address) throws IOException {
        assertNoCheckpointIsIntact(
                inBothCheckpoints(
                        "place",
                        (file, at) -> file.putLong(at + CheckpointLayout.PIECE_HEADER_BYTES, Region.pack(address, 5))),
                "outside of the heap's segments");
    }

    @Test
    void rejectsWrongPartitionCount() throws IOException {
        DirectoryImage lie = sound;
        for (String name : sound.names("checkpoint-")) {
            byte[] half = new byte[CheckpointLayout.HEADER_BYTES + CheckpointLayout.SECTION_HEADER_BYTES];
            System.arraycopy(sound.bytes(name), 0, half, 0, CheckpointLayout.HEADER_BYTES);
            lie = lie.with(name, half).edited(name, file -> {
                file.putInt(CheckpointLayout.PARTITIONS, 1);
                file.putLong(CheckpointLayout.LIST_COUNT, 0);
                file.putLong(CheckpointLayout.ENTRY_COUNT, 0);
                file.putLong(CheckpointLayout.FILE_BYTES, half.length);
                long end = file.getLong(CheckpointLayout.END_LSN);
                file.putLong(CheckpointLayout.HEADER_BYTES + CheckpointLayout.SECTION_CAPTURE_LSN, end);
                Reseal.checkpoint(file);
            });
        }
        assertNoCheckpointIsIntact(lie, "has 1 partitions, should have 1024");
    }

    @Test
    void rejectsCheckpointWithDuplicateList() throws IOException {
        CheckpointHeader newest = anatomy.newest();
        MemoryStorage storage = new MemoryStorage(sound);
        try (CheckpointWriter writer = new CheckpointWriter(storage, newest.number() + 1)) {
            int partitionOfSeven = ListIndex.partitionOf(7);
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                writer.startPartition(partition, newest.endLsn());
                for (int i = 0; i < 2 && partition == partitionOfSeven; i++) {
                    writer.list(7, newest.startLsn() - 8, 5, 5);
                }
                writer.endPartition();
            }
            writer.publish(numbered(newest, newest.number() + 1, writer.lists()));
        }
        DirectoryImage lie = storage.image();
        assertThat(Faults.of(lie))
                .anySatisfy(fault -> assertThat(fault).hasMessageContaining("holds 2 lists of 1 documents"));
        try (Recovered recovered = recover(lie)) {
            assertThat(recovered.newest()).isEqualTo(newest);
        }
    }

    private static CheckpointHeader numbered(CheckpointHeader like, long number, long lists) {
        return new CheckpointHeader(
                like.version(),
                number,
                like.storeId(),
                like.startLsn(),
                like.endLsn(),
                like.previous(),
                lists,
                0,
                like.logSegmentBytes(),
                like.heapSegmentBytes(),
                like.heapSegments(),
                like.partitions());
    }

    @Test
    void rejectsEntriesAtSamePosition() throws IOException {
        long samePosition = Region.pack(ForgedStore.HEAP.firstAddress(1), 5);
        DirectoryImage lie = inBothCheckpoints("regions", (file, at) -> {
            for (int i = 0; i < file.getLong(at + CheckpointLayout.PIECE_ENTRIES); i++) {
                file.putLong(at + CheckpointLayout.PIECE_HEADER_BYTES + i * Long.BYTES, samePosition);
            }
        });
        assertRejected(lie, "heap-0000000000000001.dat", 4096, "overlaps its neighbor");
    }

    /** Checks that the store allocates no memory for a segment size that exceeds the size of the file. */
    @Test
    void rejectsSegmentSizeBeyondFileSize() throws IOException {
        DirectoryImage lie = sound;
        for (String name : sound.names("checkpoint-")) {
            lie = lie.edited(name, file -> {
                file.putLong(FileHeader.SEGMENT_BYTES, 1 << 30);
                Reseal.checkpoint(file);
            });
        }
        assertRejected(
                lie, sound.names("log-").get(0), ForgedStore.LOG.segmentBytes(), "should be 1073741824 bytes long");
    }
}
