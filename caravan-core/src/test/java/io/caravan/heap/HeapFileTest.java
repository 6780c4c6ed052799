package io.caravan.heap;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.copyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.CorruptStoreException;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mapped heap file, on a real file system. */
class HeapFileTest {
    private static final long STORE = 5;
    private static final long BIRTH = 4144;
    private static final long GIB = 1L << 30;

    @TempDir
    Path directory;

    /** An entry as a log record holds it. */
    private static ByteBuffer entry(byte[] value, long id, long sequence) {
        ByteBuffer buffer =
                ByteBuffer.allocate(EntryLayout.entryBytes(value.length)).order(ByteOrder.LITTLE_ENDIAN);
        int checksum = EntryLayout.checksum(Checksums.crc32c(value), value.length, id, BIRTH, sequence);
        buffer.putInt(EntryLayout.CHECKSUM, checksum).putInt(EntryLayout.LENGTH, value.length);
        return buffer.put(EntryLayout.VALUE, value);
    }

    private static void write(HeapFile heap, long address, byte[] value, long id) {
        heap.write(address, entry(value, id, 0), 0, EntryLayout.entryBytes(value.length));
    }

    private static byte[] read(HeapFile heap, long address, int length, long id) {
        return copyOf(heap.read(Region.pack(address, length), id, BIRTH, 0));
    }

    @Test
    void valuesComeBackAfterReopening() throws Exception {
        HeapGeometry geometry = new HeapGeometry(32 * 1024);
        try (Storage storage = FileStorage.open(directory)) {
            HeapFile heap = new HeapFile(storage, geometry, STORE, false);
            heap.createNext();
            heap.createNext();
            write(heap, geometry.firstAddress(0), bytes("first"), 1);
            write(heap, 2 * 32 * 1024 - 24, bytes(16, 3), 2);
            heap.force(bytes -> {});
        }
        try (Storage storage = FileStorage.open(directory)) {
            HeapFile heap = new HeapFile(storage, geometry, STORE, true);
            heap.openNext();
            heap.openNext();
            assertThat(read(heap, geometry.firstAddress(0), 5, 1)).isEqualTo(bytes("first"));
            assertThat(read(heap, 2 * 32 * 1024 - 24, 16, 2)).isEqualTo(bytes(16, 3));
            assertThatThrownBy(() -> read(heap, geometry.firstAddress(0), 5, 9))
                    .isInstanceOfSatisfying(CorruptStoreException.class, problem -> {
                        assertThat(problem.file()).endsWith(FileNames.HEAP.of(0));
                        assertThat(problem.offset()).isEqualTo(4096);
                        assertThat(problem.id()).isEqualTo(9);
                        assertThat(problem.sequence()).isZero();
                    });
        }
    }

    @Test
    void aPrivateMappingLeavesTheFileAlone() throws Exception {
        HeapGeometry geometry = new HeapGeometry(32 * 1024);
        try (Storage storage = FileStorage.open(directory)) {
            new HeapFile(storage, geometry, STORE, false).createNext();
            byte[] before = Files.readAllBytes(directory.resolve(FileNames.HEAP.of(0)));
            HeapFile looking = new HeapFile(storage, geometry, STORE, true);
            looking.openNext();
            write(looking, 4096, bytes("private"), 1);
            assertThat(read(looking, 4096, 7, 1)).isEqualTo(bytes("private"));
            assertThat(Files.readAllBytes(directory.resolve(FileNames.HEAP.of(0))))
                    .isEqualTo(before);
        }
    }

    /** Its space is not: all of it is forced before a checkpoint may count on it. */
    @Test
    void aNewSegmentIsWholeAfterAPowerCutAndForcedWhole() throws Exception {
        HeapGeometry geometry = new HeapGeometry(32 * 1024);
        MemoryStorage disk = new MemoryStorage();
        FaultStorage storage = new FaultStorage(disk);
        HeapFile heap = new HeapFile(storage, geometry, STORE, false);
        heap.createNext();
        HeapFile left = new HeapFile(disk.powerCut(), geometry, STORE, false);
        left.openNext();
        assertThat(left.segmentCount()).isEqualTo(1);
        AtomicInteger forced = new AtomicInteger();
        heap.force(forced::addAndGet);
        assertThat(forced).hasValue(32 * 1024);
        assertThat(forces(storage)).extracting(FaultStorage.Call::position).containsExactly(0L, 8192L, 16384L, 24576L);
    }

    @Test
    void whatWasWrittenIsForcedInPortionsAndOnce() throws Exception {
        int portion = 8 * 1024;
        HeapGeometry geometry = new HeapGeometry(4 * portion);
        FaultStorage storage = new FaultStorage(new MemoryStorage());
        HeapFile heap = new HeapFile(storage, geometry, STORE, false);
        heap.createNext();
        heap.createNext();
        heap.force(bytes -> {});
        int before = forces(storage).size();
        write(heap, 4L * portion + 2 * portion - 40, bytes(portion, 1), 1);
        AtomicInteger forced = new AtomicInteger();
        heap.force(forced::addAndGet);
        List<FaultStorage.Call> forces = forces(storage);
        assertThat(forces.subList(before, forces.size()))
                .extracting(FaultStorage.Call::file, FaultStorage.Call::position, FaultStorage.Call::bytes)
                .containsExactly(
                        tuple(FileNames.HEAP.of(1), (long) portion, (long) portion),
                        tuple(FileNames.HEAP.of(1), 2L * portion, (long) portion));
        assertThat(forced).hasValue(2 * portion);
        heap.force(forced::addAndGet);
        assertThat(forces(storage)).hasSameSizeAs(forces);
    }

    private static List<FaultStorage.Call> forces(FaultStorage storage) {
        return storage.calls(FaultStorage.on(FaultStorage.Kind.MAP_FORCE, ".*"));
    }

    @Test
    void aSegmentThatIsRenewedIsWrittenAllOverAndForced() throws Exception {
        HeapGeometry geometry = new HeapGeometry(32 * 1024);
        MemoryStorage storage = new MemoryStorage();
        HeapFile heap = new HeapFile(storage, geometry, STORE, false);
        heap.createNext();
        heap.createNext();
        write(heap, geometry.firstAddress(0), bytes("kept"), 1);
        write(heap, geometry.firstAddress(1), bytes("gone"), 1);
        heap.force(bytes -> {});
        heap.renew(1);
        assertThat(read(heap, geometry.firstAddress(0), 4, 1)).isEqualTo(bytes("kept"));
        assertThatThrownBy(() -> read(heap, geometry.firstAddress(1), 4, 1)).isInstanceOf(CorruptStoreException.class);
        heap.force(bytes -> {});
        HeapFile left = new HeapFile(storage.powerCut(), geometry, STORE, false);
        left.openNext();
        left.openNext();
        assertThatThrownBy(() -> read(left, geometry.firstAddress(1), 4, 1)).isInstanceOf(CorruptStoreException.class);
    }

    @Test
    void aFewPagesHereAndThereAreForcedTogether() throws Exception {
        int portion = 64 * 1024;
        FaultStorage storage = new FaultStorage(new MemoryStorage());
        HeapFile heap = new HeapFile(storage, new HeapGeometry(4 * portion), STORE, false);
        heap.createNext();
        heap.force(bytes -> {});
        int before = forces(storage).size();
        for (int slice = 0; slice < 4; slice++) {
            write(heap, (long) slice * portion + 8192, bytes(10, 1), 1);
        }
        AtomicInteger forced = new AtomicInteger();
        heap.force(forced::addAndGet);
        assertThat(forces(storage)).hasSize(before + 1);
        assertThat(forces(storage).get(before).bytes()).isEqualTo(4L * portion);
        assertThat(forced).hasValue(4 * 4096);
    }

    /** Whether the process maps a file of the heap, deleted or not; the garbage collector is not asked. */
    private boolean mapped(int segment) throws Exception {
        Path maps = Path.of("/proc/self/maps");
        assumeTrue(Files.exists(maps), "only Linux tells what is mapped");
        String file = directory.toRealPath().resolve(FileNames.HEAP.of(segment)).toString();
        return Files.readString(maps).contains(file);
    }

    @Test
    void aDroppedSegmentIsUnmappedAtOnce() throws Exception {
        try (Storage storage = FileStorage.open(directory)) {
            HeapFile heap = new HeapFile(storage, new HeapGeometry(32 * 1024), STORE, false);
            heap.createNext();
            heap.createNext();
            assertThat(mapped(1)).isTrue();
            heap.dropFrom(1);
            assertThat(mapped(0)).isTrue();
            assertThat(mapped(1)).isFalse();
        }
    }

    @Test
    void aClosedHeapIsUnmappedWhenTheLastReaderIsDone() throws Exception {
        try (Storage storage = FileStorage.open(directory)) {
            HeapFile heap = new HeapFile(storage, new HeapGeometry(32 * 1024), STORE, false);
            heap.createNext();
            write(heap, 4096, bytes("read"), 1);
            heap.retain();
            ByteBuffer value = heap.read(Region.pack(4096, 4), 1, BIRTH, 0);
            heap.close();
            assertThat(mapped(0)).isTrue();
            assertThat(copyOf(value)).isEqualTo(bytes("read"));
            heap.release();
            assertThat(mapped(0)).isFalse();
        }
    }

    /** A checkpoint forces while segments go: the one at hand is unmapped when its force is done, those behind at once. */
    @Test
    void aSegmentThatIsDroppedWhileItIsForcedIsUnmappedAfterwards() throws Exception {
        CrashStorage storage = new CrashStorage(1);
        HeapFile heap = new HeapFile(storage, new HeapGeometry(32 * 1024), STORE, false);
        heap.createNext();
        heap.createNext();
        heap.createNext();
        List<String> forced = new ArrayList<>();
        storage.director(call -> {
            if (call.kind() == FaultStorage.Kind.MAP_FORCE) {
                forced.add(call.file());
                dropOnce(heap);
            }
            return CrashStorage.Outcome.PASS;
        });
        heap.force(bytes -> {});
        assertThat(forced).containsOnly(FileNames.HEAP.of(0));
        heap.close();
    }

    private static void dropOnce(HeapFile heap) {
        try {
            if (heap.segmentCount() > 0) {
                heap.dropFrom(0);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * More than 4 GiB of heap, if only just, really allocated, so that no address arithmetic in ints goes unnoticed.
     * Part of the usual build where there is room; the tag is for leaving it out, as a slow disk takes a while.
     */
    @Test
    @Tag("thorough")
    void aHeapOfMoreThanFourGibibytesKeepsEveryAddress() throws Exception {
        int segmentBytes = (int) (GIB / 2 + 4096);
        int segments = 8;
        long needed = (long) segmentBytes * segments;
        long usable = Files.getFileStore(directory).getUsableSpace();
        assumeTrue(
                usable > needed + 2 * GIB,
                "skipped: " + directory + " has " + usable + " bytes left, too few to allocate " + needed + " in");
        HeapGeometry geometry = new HeapGeometry(segmentBytes);
        try (Storage storage = FileStorage.open(directory)) {
            HeapFile heap = new HeapFile(storage, geometry, STORE, false);
            for (int segment = 0; segment < segments; segment++) {
                heap.createNext();
                write(heap, geometry.firstAddress(segment), bytes(100, segment), segment);
                write(heap, lastAddress(geometry, segment), bytes(120, segment), -segment);
            }
            assertThat(heap.diskBytes()).isEqualTo(needed).isGreaterThan(4 * GIB);
            heap.force(bytes -> {});
            for (int segment = 0; segment < segments; segment++) {
                assertThat(read(heap, geometry.firstAddress(segment), 100, segment))
                        .isEqualTo(bytes(100, segment));
                assertThat(read(heap, lastAddress(geometry, segment), 120, -segment))
                        .isEqualTo(bytes(120, segment));
            }
            heap.dropFrom(0);
        }
        try (var left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString())).noneMatch(name -> name.startsWith("heap-"));
        }
    }

    private static long lastAddress(HeapGeometry geometry, int segment) {
        return geometry.firstAddress(segment) + geometry.usableBytes() - 128;
    }
}
