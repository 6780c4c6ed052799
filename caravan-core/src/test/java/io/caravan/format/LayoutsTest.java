package io.caravan.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreVersionException;
import io.caravan.fuzz.Reseal;
import io.caravan.testing.Seeds;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes and reads every layout, and violates each numbered condition of validity separately. */
class LayoutsTest {
    private static final FileHeader.Fields FIELDS = new FileHeader.Fields(0x1234_5678_9ABCL, 7, 32_768);
    private static final long LSN = 36_864;
    private static final long STORE = -5;
    private static final FrameLayout.Link PREVIOUS = new FrameLayout.Link(32_768, 0xCAFE, 3);
    private static final int AT = 4096;

    private static ByteBuffer newBuffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    // File header

    private static ByteBuffer fileHeader() {
        ByteBuffer buffer = newBuffer(FileHeader.BYTES);
        FileHeader.put(buffer, FileNames.LOG.letters(), FIELDS);
        return buffer;
    }

    private static void checkHeader(ByteBuffer header) {
        FileHeader.check(header, FileNames.LOG.letters(), FIELDS, "the.file");
    }

    @ParameterizedTest
    @EnumSource
    void fileHeaderRoundTrips(FileNames kind) {
        ByteBuffer buffer = newBuffer(FileHeader.BYTES);
        FileHeader.put(buffer, kind.letters(), FIELDS);
        assertThat(FileHeader.get(buffer, kind.letters(), "the.file")).isEqualTo(FIELDS);
        assertThat(java.nio.charset.StandardCharsets.US_ASCII
                        .decode(buffer.slice(0, 8))
                        .toString())
                .isEqualTo(kind.letters());
        FileHeader.check(buffer, kind.letters(), FIELDS, "the.file");
    }

    @Test
    void fileHeaderCondition1MagicMatchesKind() {
        ByteBuffer header = newBuffer(FileHeader.BYTES);
        FileHeader.put(header, FileNames.HEAP.letters(), FIELDS);
        assertThatThrownBy(() -> checkHeader(header))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContainingAll("the.file", "CARAVLOG");
        assertThatThrownBy(() -> checkHeader(fileHeader().limit(FileHeader.BYTES - 1)))
                .isInstanceOf(CorruptStoreException.class);
    }

    @Test
    void fileHeaderCondition2CrcIsCorrect() {
        for (int at = FileHeader.VERSION; at < FileHeader.BYTES; at++) {
            ByteBuffer header = fileHeader();
            header.put(at, (byte) (header.get(at) + 1));
            assertThatThrownBy(() -> checkHeader(header))
                    .isInstanceOf(CorruptStoreException.class)
                    .hasMessageContainingAll("the.file", "checksum");
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {FileHeader.OLDEST_VERSION - 1, FileHeader.NEWEST_VERSION + 1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void fileHeaderCondition3VersionIsReadable(int version) {
        ByteBuffer header = fileHeader().putInt(FileHeader.VERSION, version);
        Reseal.fileHeader(header);
        assertThatThrownBy(() -> checkHeader(header))
                .isInstanceOf(StoreVersionException.class)
                .hasMessageContainingAll(
                        "the.file",
                        "" + version,
                        version > FileHeader.NEWEST_VERSION ? "newer release" : "older release");
    }

    @Test
    void fileHeaderCondition4StoreIdMatches() {
        ByteBuffer header = fileHeader().putLong(FileHeader.STORE_ID, 1);
        Reseal.fileHeader(header);
        assertThatThrownBy(() -> checkHeader(header))
                .isInstanceOf(StoreDirectoryException.class)
                .hasMessageContainingAll("the.file", "belongs to store 1");
    }

    @ParameterizedTest
    @ValueSource(ints = {FileHeader.NUMBER, FileHeader.SEGMENT_BYTES})
    void fileHeaderCondition5NumberAndSizeMatch(int field) {
        ByteBuffer header = fileHeader().putLong(field, 4096);
        Reseal.fileHeader(header);
        assertThatThrownBy(() -> checkHeader(header))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContainingAll("the.file", "number");
    }

    // Frame

    /** Returns a segment of three blocks whose second block contains a frame with a payload of this length. */
    private static ByteBuffer segmentWithFrame(int payloadBytes) {
        ByteBuffer segment = newBuffer(3 * 4096);
        ByteBuffer frame = segment.slice(AT, segment.limit() - AT).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < payloadBytes; i++) {
            frame.put(FrameLayout.HEADER_BYTES + i, (byte) i);
        }
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, STORE, LSN, 4, PREVIOUS, payloadBytes, 3);
        return segment;
    }

    private static void sealFrame(ByteBuffer segment) {
        int payloadBytes = segment.getInt(AT + FrameLayout.PAYLOAD_BYTES);
        segment.putInt(AT + FrameLayout.CRC, FrameLayout.checksum(segment, AT, payloadBytes));
    }

    /** Checks that any other magic makes a frame invalid, because a torn sector can leave that of an older frame. */
    @Test
    void frameWithDifferentMagicIsInvalid() {
        int[] magics = {
            FrameLayout.MAGIC_VALUE,
            FrameLayout.MAGIC_BEHIND_UNFORCED,
            FrameLayout.OLD_MAGIC_VALUE,
            FrameLayout.OLD_MAGIC_BEHIND_UNFORCED
        };
        for (int magic : magics) {
            ByteBuffer segment = segmentWithFrame(16).putInt(AT, magic);
            sealFrame(segment);
            assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isTrue();
            for (int other : magics) {
                for (int torn = 1; torn <= Integer.BYTES; torn++) {
                    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                    segment.put(AT, bytes.putInt(0, magic).array());
                    segment.put(AT, bytes.putInt(0, other).array(), 0, torn);
                    boolean same = segment.getInt(AT) == magic;
                    assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isEqualTo(same);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 4048, 2 * 4096 - FrameLayout.HEADER_BYTES})
    void sealedFrameIsValidAtItsPosition(int payloadBytes) {
        ByteBuffer segment = segmentWithFrame(payloadBytes);
        assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isTrue();
        assertThat(FrameLayout.follows(segment, AT, PREVIOUS)).isTrue();
        assertThat(FrameLayout.link(segment, AT))
                .isEqualTo(new FrameLayout.Link(LSN, segment.getInt(AT + FrameLayout.CRC), 4));
        assertThat(segment.getInt(AT + FrameLayout.RECORD_COUNT)).isEqualTo(3);
    }

    @Test
    void frameCondition1MagicIsCorrect() {
        ByteBuffer segment = segmentWithFrame(64).putInt(AT + FrameLayout.MAGIC, FrameLayout.MAGIC_VALUE + 1);
        assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isFalse();
    }

    @Test
    void frameCondition2LsnMatchesPosition() {
        ByteBuffer segment = segmentWithFrame(64).putLong(AT + FrameLayout.LSN, LSN + 4096);
        sealFrame(segment);
        assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isFalse();
    }

    @Test
    void frameCondition3PayloadFitsSegment() {
        for (int bytes :
                new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 2 * 4096 - FrameLayout.HEADER_BYTES + 1}) {
            ByteBuffer segment = segmentWithFrame(64).putInt(AT + FrameLayout.PAYLOAD_BYTES, bytes);
            assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isFalse();
        }
        assertThat(FrameLayout.valid(segmentWithFrame(64).limit(AT + 40), AT, STORE, LSN))
                .isFalse();
        assertThat(FrameLayout.valid(segmentWithFrame(64).limit(AT - 1), AT, STORE, LSN))
                .isFalse();
    }

    @Test
    void frameCondition4StoreIdMatches() {
        ByteBuffer segment = segmentWithFrame(64).putLong(AT + FrameLayout.STORE_ID, 99);
        sealFrame(segment);
        assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isFalse();
    }

    @Test
    void frameCondition5CrcCoversAllBytes() {
        for (int at = 0; at < FrameLayout.HEADER_BYTES + 64; at++) {
            ByteBuffer segment = segmentWithFrame(64);
            segment.put(AT + at, (byte) (segment.get(AT + at) ^ 0x10));
            assertThat(FrameLayout.valid(segment, AT, STORE, LSN))
                    .as("byte " + at)
                    .isFalse();
        }
    }

    @Test
    void frameFollowsOnlyLinkedFrame() {
        ByteBuffer segment = segmentWithFrame(16);
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(28_672, 0xCAFE, 3)))
                .isFalse();
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(32_768, 0xBEEF, 3)))
                .isFalse();
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(32_768, 0xCAFE, 5)))
                .isFalse();
    }

    /** Checks that the LSN suffices to link to a frame of an earlier version, because checkpoints lack its checksum. */
    @Test
    void frameFollowsOldVersionFrameByLsn() {
        ByteBuffer segment = segmentWithFrame(16);
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(32_768, 0xBEEF, 0)))
                .isTrue();
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(28_672, 0xCAFE, 0)))
                .isFalse();
    }

    /** Checks that frames of versions 2 and 3 are valid, although a segment number replaces their term and checksum. */
    @ParameterizedTest
    @ValueSource(ints = {FrameLayout.OLD_MAGIC_VALUE, FrameLayout.OLD_MAGIC_BEHIND_UNFORCED})
    void oldVersionFrameIsValidWithTermZero(int magic) {
        ByteBuffer segment = segmentWithFrame(16).putInt(AT, magic).putLong(AT + FrameLayout.TERM, 9);
        sealFrame(segment);
        assertThat(FrameLayout.valid(segment, AT, STORE, LSN)).isTrue();
        assertThat(FrameLayout.term(segment, AT)).isZero();
        assertThat(FrameLayout.afterForce(segment, AT)).isEqualTo(magic == FrameLayout.OLD_MAGIC_VALUE);
        assertThat(FrameLayout.follows(segment, AT, new FrameLayout.Link(32_768, 0xBEEF, 0)))
                .isTrue();
        assertThat(FrameLayout.follows(segment, AT, PREVIOUS)).isFalse();
    }

    // Records

    @Test
    void recordsRoundTripInOrder() {
        ByteBuffer frame = newBuffer(4096);
        int at = FrameLayout.HEADER_BYTES;
        for (int i = at; i < 4096; i++) {
            frame.put(i, (byte) -1);
        }
        RecordLayout.putAppend(frame, at, -3, 17, 0xCAFE, 5);
        int trimAt = at + RecordLayout.appendBytes(5);
        RecordLayout.putTrim(frame, trimAt, 9, Long.MAX_VALUE);
        int deleteAt = trimAt + RecordLayout.TRIM_BYTES;
        RecordLayout.putDelete(frame, deleteAt, Long.MIN_VALUE);
        int emptyAt = deleteAt + RecordLayout.DELETE_BYTES;
        RecordLayout.putAppend(frame, emptyAt, 1, 0, 1, 0);
        int end = emptyAt + RecordLayout.appendBytes(0);
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, STORE, LSN, 4, FrameLayout.Link.NONE, end - at, 4);

        List<String> records = new ArrayList<>();
        RecordLayout.forEachInFrame(frame, 0, LSN, visitorOf(records));
        long lsn = LSN;
        assertThat(records)
                .containsExactly(
                        "append " + (lsn + at) + " -3 17 " + (lsn + at + RecordLayout.ENTRY) + " "
                                + (at + RecordLayout.ENTRY) + " 5",
                        "trim " + (lsn + trimAt) + " 9 " + Long.MAX_VALUE,
                        "delete " + (lsn + deleteAt) + " " + Long.MIN_VALUE,
                        "append " + (lsn + emptyAt) + " 1 0 " + (lsn + emptyAt + RecordLayout.ENTRY) + " "
                                + (emptyAt + RecordLayout.ENTRY) + " 0");
    }

    private static RecordLayout.Visitor visitorOf(List<String> records) {
        return new RecordLayout.Visitor() {
            @Override
            public void append(
                    long lsn, long id, long sequence, long address, ByteBuffer buffer, int entryAt, int length) {
                records.add("append " + lsn + " " + id + " " + sequence + " " + address + " " + entryAt + " " + length);
            }

            @Override
            public void trim(long lsn, long id, long firstSequence) {
                records.add("trim " + lsn + " " + id + " " + firstSequence);
            }

            @Override
            public void delete(long lsn, long id) {
                records.add("delete " + lsn + " " + id);
            }
        };
    }

    @Test
    void recordsAreMultiplesOfEightBytesWithZeroPadding() {
        for (int length = 0; length < 64; length++) {
            assertThat(RecordLayout.appendBytes(length) % 8).isZero();
            ByteBuffer buffer = newBuffer(256);
            for (int i = 0; i < 256; i++) {
                buffer.put(i, (byte) -1);
            }
            RecordLayout.putAppend(buffer, 0, 1, 2, 3, length);
            for (int i = RecordLayout.ENTRY + EntryLayout.VALUE + length; i < RecordLayout.appendBytes(length); i++) {
                assertThat(buffer.get(i)).as("padding of a value of " + length).isZero();
            }
            assertThat(buffer.get(RecordLayout.appendBytes(length))).isEqualTo((byte) -1);
        }
        assertThat(RecordLayout.TRIM_BYTES % 8).isZero();
        assertThat(RecordLayout.DELETE_BYTES % 8).isZero();
    }

    // Entry

    private static ByteBuffer entry(byte[] value, long id, long creationLsn, long sequence) {
        ByteBuffer buffer = newBuffer(EntryLayout.entryBytes(value.length));
        int crc = Checksums.crc32c(value);
        buffer.putInt(EntryLayout.CHECKSUM, EntryLayout.checksum(crc, value.length, id, creationLsn, sequence));
        buffer.putInt(EntryLayout.LENGTH, value.length);
        return buffer.put(EntryLayout.VALUE, value);
    }

    @Test
    void entryIsValidOnlyForItsListSequenceAndBytes() {
        Seeds.forEach(200, seed -> {
            Random random = new Random(seed);
            byte[] value = new byte[random.nextInt(50)];
            random.nextBytes(value);
            long id = random.nextLong();
            long creationLsn = random.nextInt(1 << 30);
            long sequence = random.nextInt(1000);
            ByteBuffer entry = entry(value, id, creationLsn, sequence);
            assertThat(EntryLayout.valid(entry, 0, value.length, id, creationLsn, sequence))
                    .isTrue();
            assertThat(EntryLayout.valid(entry, 0, value.length, id + 1, creationLsn, sequence))
                    .isFalse();
            assertThat(EntryLayout.valid(entry, 0, value.length, id, creationLsn + 8, sequence))
                    .isFalse();
            assertThat(EntryLayout.valid(entry, 0, value.length, id, creationLsn, sequence + 1))
                    .isFalse();
            if (value.length > 0) {
                assertThat(EntryLayout.valid(entry, 0, value.length - 1, id, creationLsn, sequence))
                        .isFalse();
            }
            for (int at = 0; at < EntryLayout.VALUE + value.length; at++) {
                ByteBuffer damaged = entry(value, id, creationLsn, sequence);
                damaged.put(at, (byte) (damaged.get(at) ^ 1 << random.nextInt(8)));
                assertThat(EntryLayout.valid(damaged, 0, value.length, id, creationLsn, sequence))
                        .isFalse();
            }
        });
    }

    @Test
    void zeroedEntryIsInvalid() {
        for (long id = 0; id < 100; id++) {
            assertThat(EntryLayout.valid(newBuffer(64), 0, 0, id, 4144, 0))
                    .as("document " + id)
                    .isFalse();
        }
    }

    // Region

    /** Checks that, in a log of any length, a region yields its LSN for reference positions on either side of it. */
    @Test
    void logRegionRoundTrips() {
        long window = 1L << 40;
        for (long lsn : new long[] {4144, window - 8, window, 5 * window + 16, (1L << 61) + 8}) {
            for (int length : new int[] {0, 1, Region.MAX_LENGTH}) {
                long region = Region.inLog(lsn, length);
                assertThat(Region.isInLog(region)).isTrue();
                assertThat(Region.length(region)).isEqualTo(length);
                for (long distance : new long[] {0, 8, 1 << 20, window - 8}) {
                    assertThat(Region.entryLsn(region, lsn + distance)).isEqualTo(lsn);
                    assertThat(Region.entryLsn(region, lsn - distance)).isEqualTo(lsn);
                }
            }
        }
    }

    @Test
    void heapRegionRoundTrips() {
        long[] addresses = {0, 8, 4096, (1L << 31) - 8, 1L << 31, 1L << 32, (1L << 41) - 8};
        int[] lengths = {0, 1, 7, 8, 16 << 20, (1 << 25) - 1};
        for (long address : addresses) {
            for (int length : lengths) {
                long region = Region.pack(address, length);
                assertThat(Region.isInLog(region)).isFalse();
                assertThat(Region.address(region)).isEqualTo(address);
                assertThat(Region.length(region)).isEqualTo(length);
                assertThat(Region.entryBytes(region)).isEqualTo((8 + length + 7) / 8 * 8);
            }
        }
    }

    @Test
    void regionsSortByUnsignedAddressAndArePositiveBelowOneTebibyte() {
        assertThat(Region.pack((1L << 40) - 8, 5)).isPositive();
        assertThat(Region.pack(8, (1 << 26) - 1)).isLessThan(Region.pack(16, 0));
        assertThat(Long.compareUnsigned(Region.pack(8, 0), Region.pack((1L << 41) - 8, 0)))
                .isNegative();
    }

    // Names

    @ParameterizedTest
    @EnumSource(FileNames.class)
    void fileNamesRoundTripAndMalformedNamesDoNotParse(FileNames kind) {
        for (long number : new long[] {0, 1, 0xABC, Long.MAX_VALUE}) {
            assertThat(kind.number(kind.of(number))).hasValue(number);
            assertThat(FileNames.isTemporary(kind.temporary(number))).isTrue();
            assertThat(FileNames.isTemporary(kind.of(number))).isFalse();
            assertThat(kind.number(kind.temporary(number))).isEmpty();
            for (FileNames other : FileNames.values()) {
                assertThat(other.number(kind.of(number)).isPresent()).isEqualTo(other == kind);
            }
        }
        String name = kind.of(0xABC);
        for (String wrong : List.of(
                name.toUpperCase(java.util.Locale.ROOT),
                name.replace("0abc", "abc"),
                name.replace("0000000000000abc", "ffffffffffffffff"),
                name + "x",
                "x" + name,
                "")) {
            assertThat(kind.number(wrong)).as(wrong).isEmpty();
            assertThat(FileNames.isTemporary(wrong + ".tmp")).isFalse();
        }
    }

    @Test
    void roundsUpToBlocks() {
        assertThat(Blocks.roundUp(0)).isZero();
        assertThat(Blocks.roundUp(1)).isEqualTo(4096);
        assertThat(Blocks.roundUp(4096)).isEqualTo(4096);
        assertThat(Blocks.roundUp(4097L + (1L << 40))).isEqualTo(8192 + (1L << 40));
    }

    /** Checks that checksums are CRC-32C, using the check value from RFC 3720, appendix B.4. */
    @Test
    void checksumIsCrc32c() {
        byte[] ascending = new byte[32];
        for (int i = 0; i < 32; i++) {
            ascending[i] = (byte) i;
        }
        assertThat(Checksums.crc32c(ascending)).isEqualTo(0x46DD794E);
        ByteBuffer buffer = newBuffer(40).put(4, ascending);
        buffer.position(3);
        assertThat(Checksums.crc32c(buffer, 4, 32)).isEqualTo(0x46DD794E);
        assertThat(buffer.position()).isEqualTo(3);
    }
}
