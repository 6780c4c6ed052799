package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreLockedException;
import io.caravan.StoreVersionException;
import io.caravan.VerifyReport;
import io.caravan.WriteBatch;
import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.fuzz.Reseal;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Faults;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreAnatomy.Frame;
import io.caravan.testing.StoreContents;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Creates the state of each {@link RecoveryCase} on disk and opens the store. Checks the contents and that the store
 * continues to work, or the exact error and that no byte has changed. Each test name starts with that of the case.
 */
class RecoveryTableTest {
    private static final StoreContents NO_CONTENTS = new StoreContents(new TreeMap<>());
    private static final DirectoryImage NO_FILES = new DirectoryImage(new TreeMap<>());
    private static SmallStore store;
    private static StoreAnatomy anatomy;

    @TempDir
    Path directory;

    @BeforeAll
    static void buildStore(@TempDir Path built) throws Exception {
        store = SmallStore.build(built);
        anatomy = StoreAnatomy.of(store.open());
    }

    @ParameterizedTest
    @EnumSource(RecoveryCase.class)
    void everyRowHasTest(RecoveryCase row) {
        Pattern letters = Pattern.compile("_(.)");
        String start = letters.matcher(row.name().toLowerCase(Locale.ROOT))
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
        assertThat(RecoveryTableTest.class.getDeclaredMethods())
                .filteredOn(method -> method.isAnnotationPresent(Test.class))
                .extracting(Method::getName)
                .anyMatch(name -> name.startsWith(start));
    }

    @Test
    void nothingThereCreatesStoreAndDirectory() throws Exception {
        Path deep = directory.resolve("a/b");
        try (DurableListStore opened = DurableListStore.open(config(deep))) {
            assertThat(StoreContents.of(opened).lists()).isEmpty();
        }
        assertContinuesToWork(deep, NO_CONTENTS);
    }

    @Test
    void nothingThereExceptLostAndFoundCreatesStore() throws Exception {
        Files.createDirectories(directory.resolve("lost+found"));
        assertContinuesToWork(directory, NO_CONTENTS);
    }

    @Test
    void creationCutOffIsRepeated() throws Exception {
        DurableListStore.open(config(directory.resolve("new"))).close();
        DirectoryImage made = DirectoryImage.of(directory.resolve("new"));
        String log = FileNames.LOG.of(0);
        String heap = FileNames.HEAP.of(0);
        List<DirectoryImage> stages = List.of(
                NO_FILES.with(FileNames.LOG.temporary(0), new byte[7]),
                NO_FILES.with(log, made.bytes(log)),
                NO_FILES.with(log, made.bytes(log)).with(FileNames.HEAP.temporary(0), new byte[Blocks.BLOCK_BYTES]),
                NO_FILES.with(log, made.bytes(log)).with(heap, made.bytes(heap)),
                NO_FILES.with(log, made.bytes(log))
                        .with(heap, made.bytes(heap))
                        .with(FileNames.CHECKPOINT.temporary(0), new byte[99]));
        for (int i = 0; i < stages.size(); i++) {
            Path stage = stages.get(i).writeTo(directory.resolve("stage" + i));
            assertContinuesToWork(stage, NO_CONTENTS);
        }
    }

    @Test
    void cleanCloseReplaysNothing() throws Exception {
        assertThat(casesOf(store.closed())).containsExactly(RecoveryCase.CLEAN_CLOSE);
        assertOpensWith(store.closed(), store.contents());
    }

    @Test
    void framesToReplayAreReplayed() throws Exception {
        assertThat(casesOf(store.open())).containsExactly(RecoveryCase.FRAMES_TO_REPLAY);
        assertOpensWith(store.open(), store.contents());
        assertThat(casesOf(DirectoryImage.of(directory.resolve("opened")))).containsExactly(RecoveryCase.CLEAN_CLOSE);
    }

    @Test
    void tornTailInFrameIsCutOff() throws Exception {
        Frame last = anatomy.lastFrame();
        for (int kept = 48; kept < last.bytes() - 8; kept += 8) {
            assertThat(casesOf(torn(store.open(), last, kept)))
                    .containsExactlyInAnyOrder(RecoveryCase.FRAMES_TO_REPLAY, RecoveryCase.TORN_TAIL);
        }
        assertOpensWith(torn(store.open(), last, last.bytes() - 10), store.beforeLastFrame());
    }

    @Test
    void tornTailInHeaderIsCutOff() throws Exception {
        assertOpensWith(torn(store.open(), anatomy.lastFrame(), 20), store.beforeLastFrame());
    }

    @Test
    void tornTailWithoutWrittenBytesIsCutOff() throws Exception {
        assertOpensWith(torn(store.open(), anatomy.lastFrame(), 0), store.beforeLastFrame());
    }

    @Test
    void tornTailAtSegmentEndIsCutOff() throws Exception {
        Full full = fullButForOneBlock(bytes("in the segment's last block"));
        assertThat(full.last().offset()).isEqualTo(32 * 1024 - Blocks.BLOCK_BYTES);
        assertOpensWith(torn(full.image(), full.last(), full.last().bytes() / 2), full.before());
    }

    @Test
    void tornTailOfFrameInNextSegmentIsCutOff() throws Exception {
        Full full = fullButForOneBlock(bytes(SmallStore.MAX_VALUE_BYTES, 2));
        assertThat(full.last().file()).isEqualTo(FileNames.LOG.of(1));
        assertOpensWith(torn(full.image(), full.last(), Blocks.BLOCK_BYTES), full.before());
    }

    private record Full(DirectoryImage image, StoreContents before, Frame last) {}

    /** Fills a log segment except for its last block, and then appends this value. */
    private Full fullButForOneBlock(byte[] value) throws IOException {
        AtomicReference<StoreContents> before = new AtomicReference<>();
        DirectoryImage image = killedAfter(filling -> {
            for (int i = 0; i < 6; i++) {
                append(filling, 1, "v" + i);
            }
            before.set(StoreContents.of(filling));
            await(filling.append(2, value));
        });
        return new Full(image, before.get(), StoreAnatomy.of(image).lastFrame());
    }

    /** Returns the files that a kill leaves after these writes to a new store. */
    private DirectoryImage killedAfter(Consumer<ListStore> writes) {
        Path live = directory.resolve("live");
        WatchedScheduler threads = new WatchedScheduler();
        try (ListStore filling = threads.open(config(live))) {
            writes.accept(filling);
            return DirectoryImage.ofSettled(live, threads);
        }
    }

    private static void appendWeakly(ListStore store, String text) {
        await(store.write(WriteBatch.create().append(1, bytes(text)).durability(Durability.PROCESS)));
    }

    /** Returns a copy of the image that contains only the first bytes of the frame, as after a crash. */
    private static DirectoryImage torn(DirectoryImage image, Frame frame, int kept) {
        return image.edited(frame.file(), file -> file.put(frame.offset() + kept, new byte[frame.bytes() - kept]));
    }

    @Test
    void badFrameWithValidOnesAfterIsRejected() throws Exception {
        List<Frame> replayed = anatomy.replayed();
        for (Frame frame : replayed.subList(0, replayed.size() - 1)) {
            CorruptStoreException rejection = assertRejected(
                    CorruptStoreException.class,
                    store.open().withFlip(frame.file(), frame.end() - 1),
                    frame.file(),
                    "restore the directory from a backup",
                    "repair");
            assertThat(rejection.file()).endsWith(frame.file());
            assertThat(rejection.offset()).isEqualTo(frame.offset());
        }
    }

    /**
     * Checks a log from which a power cut has removed the first or second of three writes at levels below {@code SYNC}.
     * A new write of the same length must not make the write after the gap valid again.
     */
    @Test
    void gapAfterFsyncedFramesEndsLogPermanently() throws Exception {
        DirectoryImage full = killedAfter(filling -> {
            append(filling, 1, "forced");
            List.of("aa", "bb", "cc").forEach(text -> appendWeakly(filling, text));
        });
        List<Frame> frames = StoreAnatomy.of(full).replayed();
        for (int lost = 1; lost < 3; lost++) {
            Frame frame = frames.get(frames.size() - 4 + lost);
            DirectoryImage gap = full.withFlip(frame.file(), frame.end() - 1);
            assertThat(casesOf(gap)).contains(RecoveryCase.GAP_AFTER_FSYNCED_FRAMES);
            Path opened = gap.writeTo(directory.resolve("gap" + lost));
            WatchedScheduler again = new WatchedScheduler();
            DirectoryImage killed;
            List<String> kept = List.of("0:forced", "1:aa").subList(0, lost);
            try (ListStore store = again.open(config(opened))) {
                assertThat(texts(store, 1)).containsExactlyElementsOf(kept);
                append(store, 1, "xx");
                killed = DirectoryImage.ofSettled(opened, again);
            }
            try (ListStore store = DurableListStore.open(config(killed.writeTo(directory.resolve("killed" + lost))))) {
                assertThat(texts(store, 1)).hasSize(lost + 1).endsWith(lost + ":xx");
            }
        }
    }

    /** Checks that a damaged frame is rejected if a later frame's magic states that all earlier ones were fsynced. */
    @Test
    void badFrameWithValidOnesAfterIsRejectedAmongWeakerWrites() throws Exception {
        DirectoryImage full = killedAfter(filling -> {
            appendWeakly(filling, "weaker");
            append(filling, 1, "forced");
            appendWeakly(filling, "weaker");
        });
        List<Frame> frames = StoreAnatomy.of(full).replayed();
        for (Frame frame : frames.subList(frames.size() - 3, frames.size() - 1)) {
            assertRejected(
                    CorruptStoreException.class, full.withFlip(frame.file(), frame.end() - 1), frame.file(), "repair");
        }
    }

    @Test
    void gapInAReplicaAfterFsyncedLsnEndsLog() throws Exception {
        List<Frame> replayed = anatomy.replayed();
        for (Frame frame : replayed.subList(0, replayed.size() - 1)) {
            DirectoryImage gap = store.open().withFlip(frame.file(), frame.end() - 1);
            try (Recovered recovered = new Recovery(
                            new MemoryStorage(gap), VerifyReport.Progress.NONE, OptionalLong.of(frame.lsn()), false)
                    .recover()) {
                assertThat(recovered.cases()).contains(RecoveryCase.GAP_IN_A_REPLICA);
                assertThat(recovered.end().position()).isEqualTo(frame.lsn());
            }
            assertThatExceptionOfType(CorruptStoreException.class)
                    .isThrownBy(() -> new Recovery(
                                    new MemoryStorage(gap),
                                    VerifyReport.Progress.NONE,
                                    OptionalLong.of(frame.lsn() + 1),
                                    false)
                            .recover())
                    .withMessageContaining("though the log continues");
        }
    }

    @Test
    void missingLogSegmentAtReplayStartIsRejected() throws Exception {
        assertMissingFileIsRejected(anatomy.replayed().get(0).file());
    }

    @Test
    void missingLogSegmentInMiddleIsRejected() throws Exception {
        List<String> files =
                anatomy.replayed().stream().map(Frame::file).distinct().toList();
        assertThat(files).hasSizeGreaterThanOrEqualTo(3);
        assertMissingFileIsRejected(files.get(1));
    }

    @Test
    void missingLogSegmentAtEndIsRejected() throws Exception {
        assertMissingFileIsRejected(anatomy.lastFrame().file());
    }

    private void assertMissingFileIsRejected(String name) throws IOException {
        assertRejected(
                StoreDirectoryException.class,
                store.open().without(name),
                name + " is missing",
                "put the file back, or restore the directory from a backup");
        assertThat(Faults.of(store.open().without(name))).hasSize(1);
    }

    @Test
    void missingHeapSegmentIsRejected() throws Exception {
        for (String name : store.open().names("heap-")) {
            assertMissingFileIsRejected(name);
        }
    }

    @Test
    void newestCheckpointBadOpensFromOlderOne() throws Exception {
        String newest = store.open().last("checkpoint-");
        DirectoryImage damaged = store.open().withFlip(newest, store.open().length(newest) - 1);
        assertThat(casesOf(damaged)).contains(RecoveryCase.NEWEST_CHECKPOINT_BAD);
        assertOpensWith(damaged, store.contents());
        assertOpensWith(store.closed().withFlip(store.closed().last("checkpoint-"), 70), store.contents());
    }

    @Test
    void allCheckpointsBadIsRejected() throws Exception {
        DirectoryImage damaged = store.open();
        for (String name : damaged.names("checkpoint-")) {
            damaged = damaged.withFlip(name, damaged.length(name) - 1);
        }
        assertRejected(
                CorruptStoreException.class,
                damaged,
                damaged.last("checkpoint-"),
                "no checkpoint is intact",
                "restore the directory from a backup");
    }

    @Test
    void allCheckpointsBadBecauseMissingIsRejected() throws Exception {
        assertRejected(
                StoreDirectoryException.class,
                store.open().withoutAll("checkpoint-"),
                "there is no checkpoint",
                "put the checkpoint files back");
    }

    /** Checks that a heap with values, like that of a salvaged store, is not mistaken for one that is being created. */
    @Test
    void heapWithValuesIsNotTreatedAsCreationCutOff() throws Exception {
        DirectoryImage closed = store.closed();
        String heap = FileNames.HEAP.of(0);
        DirectoryImage damaged = closed.withoutAll("checkpoint-")
                .withoutAll("log-")
                .withoutAll("heap-")
                .with(heap, closed.bytes(heap))
                .with(FileNames.LOG.of(0), new byte[32 * 1024]);
        assertRejected(
                StoreDirectoryException.class, damaged, "there is no checkpoint", "put the checkpoint files back");
    }

    @Test
    void checkpointNewerThanLogIsRejected() throws Exception {
        long farther = anatomy.logEnd() + Blocks.BLOCK_BYTES;
        DirectoryImage damaged = store.open().edited(store.open().last("checkpoint-"), file -> {
            file.putLong(CheckpointLayout.END_LSN, farther);
            Reseal.checkpoint(file);
        });
        assertRejected(
                CorruptStoreException.class,
                damaged,
                FileNames.LOG.of(anatomy.logEnd() / (32 * 1024)),
                "the log ends here, but",
                store.open().last("checkpoint-"),
                "shows that it reached LSN " + farther);
    }

    @Test
    void halfMadeSegmentAfterEndOfLogIsRebuilt() throws Exception {
        DirectoryImage halfMade =
                store.open().edited(store.open().last("log-"), file -> file.put(0, new byte[Blocks.BLOCK_BYTES]));
        assertThat(casesOf(halfMade)).contains(RecoveryCase.HALF_MADE_SEGMENT);
        assertOpensWith(halfMade, store.contents());
    }

    @Test
    void halfMadeSegmentInRecyclingIsRebuilt() throws Exception {
        String first = store.closed().names("log-").get(0);
        String next = FileNames.LOG.of(
                FileNames.LOG.number(store.closed().last("log-")).getAsLong() + 1);
        DirectoryImage recycled =
                store.closed().without(first).with(next, store.closed().bytes(first));
        assertThat(casesOf(recycled)).contains(RecoveryCase.HALF_MADE_SEGMENT);
        assertOpensWith(recycled, store.contents());
    }

    /** Checks that a half-made segment is rebuilt if the log ends in it, although it has no frame yet. */
    @Test
    void halfMadeSegmentAfterFullOneIsRebuilt() throws Exception {
        AtomicReference<StoreContents> contents = new AtomicReference<>();
        DirectoryImage full = killedAfter(filling -> {
            for (int i = 0; i < 7; i++) {
                append(filling, 1, "v" + i);
            }
            contents.set(StoreContents.of(filling));
        });
        assertThat(StoreAnatomy.of(full).lastFrame().offset()).isEqualTo(32 * 1024 - Blocks.BLOCK_BYTES);
        String next = FileNames.LOG.of(1);
        DirectoryImage recycling = full;
        for (String later : full.names("log-")) {
            recycling = later.compareTo(next) > 0 ? recycling.without(later) : recycling;
        }
        recycling = recycling.with(next, full.bytes(FileNames.LOG.of(0)));
        // The renamed file still has the header and the frames of its former segment.
        assertThat(casesOf(recycling)).contains(RecoveryCase.HALF_MADE_SEGMENT);
        assertOpensWith(recycling, contents.get());
    }

    @Test
    void halfMadeSegmentBeforeLastOneIsRejected() throws Exception {
        String next = FileNames.LOG.of(anatomy.logEnd() / (32 * 1024) + 1);
        assertThat(next).isLessThan(store.open().last("log-"));
        assertRejected(
                CorruptStoreException.class,
                store.open().withFlip(next, 0),
                next,
                "restore the directory from a backup");
    }

    @Test
    void versionTooNewIsRejected() throws Exception {
        for (String name : List.of(
                anatomy.replayed().get(0).file(),
                store.open().names("heap-").get(0),
                store.open().names("checkpoint-").get(0),
                store.open().last("checkpoint-"))) {
            DirectoryImage newer =
                    store.open().edited(name, file -> file.putInt(FileHeader.VERSION, FileHeader.NEWEST_VERSION + 1));
            StoreVersionException rejection = assertRejected(
                    StoreVersionException.class,
                    newer.edited(name, Reseal::fileHeader),
                    name,
                    "format version " + (FileHeader.NEWEST_VERSION + 1),
                    "open it with a newer release");
            assertThat(rejection.found()).isEqualTo(FileHeader.NEWEST_VERSION + 1);
        }
    }

    @Test
    void otherStoresSegmentIsRejected() throws Exception {
        SmallStore other = SmallStore.build(directory.resolve("other"));
        String log = anatomy.lastFrame().file();
        String heap = store.open().names("heap-").get(0);
        for (String name : List.of(log, heap)) {
            assertRejected(
                    StoreDirectoryException.class,
                    store.open().with(name, other.open().bytes(name)),
                    name,
                    "belongs to store");
        }
    }

    @Test
    void otherStoresSegmentIsRejectedAlsoIfItIsCheckpoint() throws Exception {
        SmallStore other = SmallStore.build(directory.resolve("other"));
        for (String name : store.open().names("checkpoint-")) {
            assertRejected(
                    StoreDirectoryException.class,
                    store.open().with(name, other.open().bytes(name)),
                    "belongs to store");
        }
    }

    @Test
    void leftoverTemporaryFilesAreDeleted() throws Exception {
        DirectoryImage leftovers = store.open()
                .with(FileNames.LOG.temporary(77), new byte[5])
                .with(FileNames.HEAP.temporary(5), new byte[0])
                .with(FileNames.CHECKPOINT.temporary(3), new byte[4000]);
        assertThat(casesOf(leftovers)).contains(RecoveryCase.LEFTOVER_TEMPORARY_FILES);
        assertOpensWith(leftovers, store.contents());
        assertThat(DirectoryImage.of(directory.resolve("opened")).files().keySet())
                .noneMatch(name -> name.endsWith(".tmp"));
    }

    @Test
    void lockedStoreIsRejected() throws Exception {
        WatchedScheduler threads = new WatchedScheduler();
        try (ListStore open = threads.open(config(directory))) {
            append(open, 1, "a");
            DirectoryImage before = DirectoryImage.ofSettled(directory, threads);
            assertThat(catchThrowableOfType(StoreLockedException.class, () -> DurableListStore.open(config(directory))))
                    .hasMessageContaining(directory.getFileName().toString());
            assertThat(DirectoryImage.of(directory).differences(before)).isEmpty();
            append(open, 1, "b");
            assertThat(texts(open, 1)).containsExactly("0:a", "1:b");
        }
    }

    @Test
    void notADirectoryIsRejected() throws Exception {
        Path file = Files.write(directory.resolve("file"), bytes("mine"));
        for (Path path : List.of(file, file.resolve("below"))) {
            assertThat(catchThrowableOfType(StoreDirectoryException.class, () -> DurableListStore.open(config(path))))
                    .hasMessageContaining(path.toString());
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(bytes("mine"));
    }

    @Test
    void unknownFilesAreRejected() throws Exception {
        for (String name : List.of("letter.txt", "log-0.wal", "log-000000000000000G.wal", "checkpoint-x.ckp.tmp")) {
            assertRejected(
                    StoreDirectoryException.class,
                    store.open().with(name, bytes("mine")),
                    name + " is not a file of a store",
                    "elsewhere");
        }
        assertRejected(
                StoreDirectoryException.class, NO_FILES.with("a", new byte[1]).with("b", new byte[1]), "1 others");
    }

    /** Checks that opening does not rewrite the heap if it rejects the config after reading everything. */
    @Test
    void rejectedConfigChangesNothing() throws Exception {
        Path copy = store.open().writeTo(directory.resolve("copy"));
        DirectoryImage before = DirectoryImage.of(copy);
        StoreConfig tooLarge = StoreConfig.builder(copy).maxValueBytes(1 << 20).build();
        assertThat(catchThrowableOfType(StoreDirectoryException.class, () -> DurableListStore.open(tooLarge)))
                .hasMessageContaining("lower maxValueBytes");
        assertThat(DirectoryImage.of(copy).differences(before)).isEmpty();
    }

    /** Checks that the maximum value length is a heap segment's size minus its header and an entry's fields. */
    @Test
    void rejectsMaxValueLargerThanExistingHeapSegments() throws Exception {
        Path created = directory.resolve("created");
        StoreConfig.Builder config = StoreConfig.builder(created).logBufferBytes(64 << 10);
        DurableListStore.open(config.maxValueBytes(1).heapSegmentBytes(32 << 10).build())
                .close();
        config.heapSegmentBytes(64 << 10);
        StoreConfig tooLarge = config.maxValueBytes((32 << 10) - 4096 - 7).build();
        assertThat(catchThrowableOfType(StoreDirectoryException.class, () -> DurableListStore.open(tooLarge)))
                .hasMessageContaining("lower maxValueBytes");
        DurableListStore.open(config.maxValueBytes((32 << 10) - 4096 - 8).build())
                .close();
    }

    private static StoreConfig config(Path path) {
        return SmallStore.config(path).build();
    }

    private static java.util.Set<RecoveryCase> casesOf(DirectoryImage image) throws IOException {
        try (Recovered recovered = new Recovery(new MemoryStorage(image)).recover()) {
            return recovered.cases();
        }
    }

    private void assertOpensWith(DirectoryImage image, StoreContents expected) throws Exception {
        Path opened = directory.resolve("opened");
        if (Files.exists(opened)) {
            opened = directory.resolve("opened" + System.nanoTime());
        }
        assertContinuesToWork(image.writeTo(opened), expected);
    }

    /** Opens the store, reads, appends, opens it again, reads, and verifies it. */
    private static void assertContinuesToWork(Path path, StoreContents expected) {
        try (DurableListStore opened = DurableListStore.open(config(path))) {
            assertThat(StoreContents.of(opened)).isEqualTo(expected);
            assertThat(append(opened, 4_711, "more")).isZero();
        }
        try (DurableListStore reopened = DurableListStore.open(config(path))) {
            assertThat(texts(reopened, 4_711)).containsExactly("0:more");
            awaitWrite(reported -> reopened.delete(4_711, reported));
            assertThat(StoreContents.of(reopened)).isEqualTo(expected);
        }
        assertThat(Faults.of(path)).isEmpty();
    }

    /** Checks that opening fails with a message that contains these words, and changes no byte. */
    private <T extends CaravanException> T assertRejected(Class<T> type, DirectoryImage image, String... words)
            throws IOException {
        Path path = image.writeTo(directory.resolve("rejected" + System.nanoTime()));
        DirectoryImage before = DirectoryImage.of(path);
        T rejection = catchThrowableOfType(
                type, () -> DurableListStore.open(config(path)).close());
        assertThat(rejection).as("the rejection of " + Arrays.toString(words)).isNotNull();
        assertThat(rejection.getMessage()).contains(words);
        assertThat(DirectoryImage.of(path).differences(before)).isEmpty();
        return rejection;
    }
}
