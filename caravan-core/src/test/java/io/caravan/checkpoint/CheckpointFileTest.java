package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CorruptStoreException;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.fuzz.Reseal;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes and reads checkpoint files, and violates each numbered condition of an intact checkpoint separately. */
class CheckpointFileTest {
    private static final long NUMBER = 5;
    private static final int PARTITIONS = 4;
    private static final String NAME = FileNames.CHECKPOINT.of(NUMBER);

    /** A list as it is written to a checkpoint and read back. */
    private record Listed(long id, long creationLsn, long first, long next, List<Long> regions) {}

    private static Listed list(long id, long creationLsn, long first, int count) {
        List<Long> regions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            regions.add(id * 1_000_003 + i);
        }
        return new Listed(id, creationLsn, first, first + count, regions);
    }

    /** Writes a checkpoint of these partitions, passing at most {@code slice} regions to the writer at a time. */
    private static DirectoryImage write(List<List<Listed>> partitions, int slice) throws IOException {
        MemoryStorage storage = new MemoryStorage();
        try (CheckpointWriter writer = new CheckpointWriter(storage, NUMBER)) {
            for (int partition = 0; partition < partitions.size(); partition++) {
                writer.startPartition(partition, captureLsn(partition));
                for (Listed list : partitions.get(partition)) {
                    writer.list(list.id(), list.creationLsn(), list.first(), list.next());
                    long[] regions =
                            list.regions().stream().mapToLong(Long::longValue).toArray();
                    for (int at = 0; at < regions.length; at += slice) {
                        writer.regions(regions, at, Math.min(slice, regions.length - at));
                    }
                }
                writer.endPartition();
            }
            assertThat(storage.list()).containsExactly(NAME + ".tmp");
            writer.publish(header(writer.lists(), writer.entries()));
        }
        assertThat(storage.list()).containsExactly(NAME);
        return storage.image();
    }

    private static long captureLsn(int partition) {
        return 4096 + 8L * partition;
    }

    private static CheckpointHeader header(long lists, long entries) {
        return new CheckpointHeader(
                FileHeader.NEWEST_VERSION,
                NUMBER,
                -99,
                4096,
                8192,
                new FrameLayout.Link(-1, 0xCAFE, 7),
                lists,
                entries,
                32_768,
                65_536,
                3,
                PARTITIONS);
    }

    private static CheckpointHeader read(DirectoryImage image, Map<Integer, List<Listed>> partitions)
            throws IOException {
        try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), NUMBER)) {
            reader.read(new Collector(partitions));
            assertThat(reader.fileBytes()).isEqualTo(image.length(NAME));
            return reader.header();
        }
    }

    /** Reassembles lists from the pieces that the reader of a checkpoint reports. */
    private static final class Collector implements CheckpointReader.Visitor {
        private final Map<Integer, List<Listed>> partitions;
        private int partition;

        Collector(Map<Integer, List<Listed>> partitions) {
            this.partitions = partitions;
        }

        @Override
        public void partition(int number, long captureLsn) {
            assertThat(captureLsn).isEqualTo(captureLsn(number));
            partition = number;
            partitions.computeIfAbsent(number, none -> new ArrayList<>());
        }

        @Override
        public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
            List<Listed> lists = partitions.get(partition);
            Listed last = lists.isEmpty() ? null : lists.get(lists.size() - 1);
            if (last == null || last.id() != id) {
                last = new Listed(id, creationLsn, first, next, new ArrayList<>());
                lists.add(last);
            }
            for (int i = 0; i < count; i++) {
                last.regions().add(regions.getLong(at + i * Long.BYTES));
            }
        }
    }

    private static void assertRestored(List<List<Listed>> partitions, int slice) throws IOException {
        Map<Integer, List<Listed>> found = new TreeMap<>();
        DirectoryImage image = write(partitions, slice);
        long lists = partitions.stream().mapToLong(List::size).sum();
        long entries = partitions.stream()
                .flatMap(List::stream)
                .mapToLong(list -> list.regions().size())
                .sum();
        assertThat(read(image, found)).isEqualTo(header(lists, entries));
        assertThat(List.copyOf(found.values())).isEqualTo(partitions);
    }

    @Test
    void emptyIndexIsRestored() throws IOException {
        assertRestored(List.of(List.of(), List.of(), List.of(), List.of()), 1);
    }

    @Test
    void listsOfAllLengthsAreRestored() throws IOException {
        assertRestored(
                List.of(
                        List.of(list(-1, 4096, 0, 0), list(2, 4104, 17, 1), list(3, 4112, 5, 0)),
                        List.of(),
                        List.of(list(Long.MIN_VALUE, 5000, 1L << 40, 300), list(7, 5008, 3, 0)),
                        List.of(list(9, 6000, 0, 2))),
                100);
    }

    /** Checks that lists are read back correctly even if they have more regions than fit in one section. */
    @Test
    void listsLongerThanOneSectionAreRestored() throws IOException {
        int regionsInASection = MAX_PAYLOAD_BYTES / Long.BYTES;
        assertRestored(
                List.of(
                        List.of(list(1, 4096, 9, 3 * regionsInASection + 5), list(2, 4104, 0, 3)),
                        List.of(list(3, 4096, 0, regionsInASection - PIECE_HEADER_BYTES / Long.BYTES)),
                        List.of(
                                list(4, 4096, 0, regionsInASection - PIECE_HEADER_BYTES / Long.BYTES + 1),
                                list(5, 1, 2, 0)),
                        List.of()),
                65_536);
    }

    @Test
    void randomListsAreRestored() {
        Seeds.forEach(8, seed -> {
            Random random = new Random(seed);
            List<List<Listed>> partitions = new ArrayList<>();
            long id = 0;
            for (int partition = 0; partition < PARTITIONS; partition++) {
                List<Listed> lists = new ArrayList<>();
                for (int i = random.nextInt(400); i > 0; i--) {
                    int count = random.nextInt(10) == 0 ? random.nextInt(20_000) : random.nextInt(10);
                    lists.add(list(id++, 4096 + id, random.nextInt(100), count));
                }
                partitions.add(lists);
            }
            assertRestored(partitions, 1 + random.nextInt(5_000));
        });
    }

    // The conditions

    private static DirectoryImage small() throws IOException {
        return write(List.of(List.of(list(1, 4096, 0, 3)), List.of(), List.of(list(2, 4104, 1, 2)), List.of()), 10);
    }

    private static void assertCorrupt(DirectoryImage image, String problem) {
        assertThatThrownBy(() -> check(image))
                .isInstanceOfSatisfying(
                        CorruptStoreException.class,
                        corrupt -> assertThat(corrupt.file()).endsWith(NAME))
                .hasMessageContainingAll(NAME, problem);
    }

    private static void check(DirectoryImage image) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), NUMBER)) {
            reader.read(CheckpointReader.Visitor.NONE);
        }
    }

    private static DirectoryImage edited(Consumer<ByteBuffer> edit) throws IOException {
        return small().edited(NAME, edit);
    }

    @Test
    void condition1RejectsInvalidFileHeader() throws IOException {
        for (int at = 0; at < FileHeader.BYTES; at++) {
            assertCorrupt(small().withFlip(NAME, at), "");
        }
        DirectoryImage renamed = small().with(FileNames.CHECKPOINT.of(6), small().bytes(NAME));
        assertThatThrownBy(() -> new CheckpointReader(new MemoryStorage(renamed), 6).header())
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContaining("is checkpoint 5");
    }

    @Test
    void condition2RejectsWrongHeaderChecksum() throws IOException {
        for (int at = FileHeader.BYTES; at < HEADER_BYTES; at++) {
            assertCorrupt(small().withFlip(NAME, at), "the checkpoint header's checksum is wrong");
        }
        assertCorrupt(small().truncated(NAME, HEADER_BYTES - 1), "the checkpoint header's checksum is wrong");
    }

    @ParameterizedTest
    @CsvSource({
        "HEAP_SEGMENT_BYTES, 0",
        "HEAP_SEGMENT_BYTES, -4096",
        "HEAP_SEGMENT_BYTES, 4096",
        "HEAP_SEGMENT_BYTES, 8193",
        "HEAP_SEGMENT_BYTES, 1073745920",
        "HEAP_SEGMENTS, -1",
        "PARTITIONS, 0",
        "PARTITIONS, -1",
        "PARTITIONS, 1025",
        "START_LSN, -4096",
        "START_LSN, 4097",
        "START_LSN, 32768",
        "START_LSN, 0",
        "START_LSN, 12288",
        "START_LSN, 4611686018427392000",
        "END_LSN, 4095",
        "END_LSN, 4611686018427387904",
        "PREVIOUS_LSN, -2",
        "PREVIOUS_LSN, 4096"
    })
    void condition3RejectsImpossibleHeaderNumbers(String field, long number) throws Exception {
        int offset = CheckpointLayout.class.getField(field).getInt(null);
        boolean isInt = offset >= HEAP_SEGMENTS;
        assertCorrupt(
                edited(file -> {
                    if (isInt) {
                        file.putInt(offset, (int) number);
                    } else {
                        file.putLong(offset, number);
                    }
                    Reseal.checkpoint(file);
                }),
                "a number that no store can have");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -32_768, 4096, 32_769, 1L << 31, Long.MAX_VALUE})
    void condition3RejectsImpossibleLogSegmentSize(long bytes) throws IOException {
        assertCorrupt(
                edited(file -> {
                    FileHeader.put(file, FileNames.CHECKPOINT.letters(), new FileHeader.Fields(-99, NUMBER, bytes));
                    Reseal.checkpoint(file);
                }),
                "a number that no store can have");
    }

    @Test
    void condition4RejectsWrongFileLength() throws IOException {
        DirectoryImage small = small();
        assertCorrupt(small.truncated(NAME, small.length(NAME) - 1), "bytes long, should be");
        assertCorrupt(small.truncated(NAME, small.length(NAME) + 8), "bytes long, should be");
        assertCorrupt(small.truncated(NAME, HEADER_BYTES), "bytes long, should be");
    }

    @Test
    void condition5RejectsInvalidSections() throws IOException {
        for (int bytes : new int[] {-1, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 1, Integer.MAX_VALUE, 500}) {
            assertCorrupt(edited(file -> file.putInt(HEADER_BYTES + SECTION_PAYLOAD_BYTES, bytes)), "a section");
        }
        for (int partition : new int[] {-1, PARTITIONS, Integer.MAX_VALUE}) {
            assertCorrupt(
                    edited(file -> {
                        file.putInt(HEADER_BYTES + SECTION_PARTITION, partition);
                        Reseal.checkpoint(file);
                    }),
                    "names partition " + partition);
        }
        for (long capture : new long[] {-1, 0, 4095, 8193, Long.MAX_VALUE}) {
            assertCorrupt(
                    resealed(file -> file.putLong(HEADER_BYTES + SECTION_CAPTURE_LSN, capture)),
                    "captured at LSN " + capture);
        }
        for (int at = HEADER_BYTES; at < small().length(NAME); at++) {
            assertCorrupt(small().withFlip(NAME, at), "a section");
        }
    }

    @Test
    void condition6RejectsPiecesThatDoNotAddUp() throws IOException {
        int piece = HEADER_BYTES + SECTION_HEADER_BYTES;
        for (long count : new long[] {-1, 4, 2, 0, Long.MAX_VALUE, 1L << 32}) {
            assertCorrupt(resealed(file -> file.putLong(piece + PIECE_ENTRIES, count)), "");
        }
        assertCorrupt(resealed(file -> file.putLong(piece + PIECE_NEXT, 2)), "do not fit together");
        assertCorrupt(resealed(file -> file.putLong(piece + PIECE_NEXT, 4)), "document 1 do not fit together");
        assertCorrupt(resealed(file -> file.putLong(piece + PIECE_FIRST, -1)), "has the sequences -1 to 3");
        assertCorrupt(resealed(file -> file.putLong(piece + PIECE_NEXT, -1)), "has the sequences 0 to -1");
        assertCorrupt(resealed(file -> file.putLong(piece + PIECE_NEXT, Long.MAX_VALUE)), "has the sequences 0 to");
        for (int pieces : new int[] {-1, 0, 2, Integer.MAX_VALUE}) {
            assertCorrupt(
                    resealed(file -> file.putInt(HEADER_BYTES + SECTION_PIECES, pieces)),
                    "holds 1 pieces, should hold " + pieces);
        }
        for (int field : new int[] {LIST_COUNT, ENTRY_COUNT}) {
            assertCorrupt(
                    edited(file -> {
                        file.putLong(field, file.getLong(field) + 1);
                        Reseal.checkpoint(file);
                    }),
                    "should hold");
        }
    }

    @Test
    void condition6RejectsPiecesWithDifferentHeaders() throws IOException {
        DirectoryImage cut = write(
                List.of(List.of(list(1, 4096, 0, MAX_PAYLOAD_BYTES / Long.BYTES)), List.of(), List.of(), List.of()),
                1000);
        int second = HEADER_BYTES + SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;
        for (int field : new int[] {PIECE_ID, PIECE_CREATION_LSN, PIECE_FIRST, PIECE_NEXT}) {
            int at = second + SECTION_HEADER_BYTES + field;
            DirectoryImage edited = cut.edited(NAME, file -> {
                file.putLong(at, file.getLong(at) + 1);
                Reseal.checkpoint(file);
            });
            assertCorrupt(edited, "the pieces of document 1 do not fit together");
        }
    }

    private static DirectoryImage resealed(Consumer<ByteBuffer> edit) throws IOException {
        return edited(file -> {
            edit.accept(file);
            Reseal.checkpoint(file);
        });
    }

    @Test
    void condition7RejectsPartitionWithoutSection() throws IOException {
        assertCorrupt(
                edited(file -> {
                    file.putInt(PARTITIONS_OFFSET, PARTITIONS + 1);
                    Reseal.checkpoint(file);
                }),
                "should hold 2, 5 and " + (PARTITIONS + 1));
        assertCorrupt(resealed(file -> file.putInt(HEADER_BYTES + SECTION_PARTITION, 1)), "and 3 partitions");
    }

    private static final int PARTITIONS_OFFSET = CheckpointLayout.PARTITIONS;
}
