package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.engine.Engine;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileNames;
import io.caravan.fuzz.Reseal;
import io.caravan.fuzz.Sections;
import io.caravan.io.Storage;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.Faults;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreAnatomy.HeapEntry;
import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreMap;
import io.caravan.testing.StoreMap.Area;
import io.caravan.testing.StoreMap.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Damages a small store in every way that a file can be damaged, one way at a time, and opens it each time. The opened
 * store contains exactly the acknowledged data, or opening throws a {@link CaravanException} that names a file.
 * {@code verify} reports damage in all data that the store needs.
 *
 * <p>One kind of damage is indistinguishable from a crash: damage to the last frame of the log, if no data follows the
 * frame and no checkpoint needs it. The store then loses exactly that frame.
 *
 * <p>The test flips every byte of a header, a checkpoint, a frame that a checkpoint needs, and a live value in the
 * heap. A reader only skips the other bytes: zeros after headers and frames, unused segments, frames that no checkpoint
 * needs, and free space of the heap. The test flips only every {@value #PADDING_STEP}th of these bytes.
 *
 * <p>If a kill and a close leave the same file, the test flips every byte of one copy and every
 * {@value #SAME_FILE_STEP}th byte of the other.
 *
 * <p>The files are in memory, and each case has its own copy. Each case goes through {@link Recovery}, as opening does.
 * Every {@value #FULL_OPEN_STEP}th case also opens the store with the entire {@link Engine} and writes to it.
 * Verification reads the entire store. If a checkpoint is damaged, it reads only the checkpoint, except in every
 * {@value #VERIFY_STEP}th case.
 *
 * <p>Without the profile {@code thorough}, the test makes only one in {@value #QUICK_SHARE} flips and truncations,
 * chosen differently in every run.
 */
@Timeout(1800)
class DamageCatalogueTest {
    private static final Logger LOGGER = LoggerFactory.getLogger(DamageCatalogueTest.class);
    private static final int PADDING_STEP = 61;
    private static final int FULL_OPEN_STEP = 89;
    private static final int SAME_FILE_STEP = 7;
    private static final int VERIFY_STEP = 5;
    private static final int TRUNCATION_STEP = 127;
    /** The factor by which a run without the {@code thorough} profile reduces the number of flips and truncations. */
    private static final int QUICK_SHARE = 48;
    /** The factor by which runs without the {@code thorough} profile reduce the deletions and exchanges of files. */
    private static final int WHOLE_FILES_SHARE = 4;

    private static final int SHOWN_FAILURES = 12;
    private static final Pattern FILE_NAME =
            Pattern.compile("(log-[0-9a-f]{16}\\.wal|heap-[0-9a-f]{16}\\.dat|checkpoint-[0-9a-f]{16}\\.ckp)");

    private static SmallStore store;
    private static SmallStore other;
    private static Map<State, Subject> subjects;

    enum State {
        KILLED,
        CLOSED
    }

    /** The store that a test damages: its files, its expected contents, and the places of all its parts. */
    private record Subject(
            DirectoryImage image,
            StoreAnatomy anatomy,
            StoreContents contents,
            StoreContents beforeLastFrame,
            StoreMap map) {}

    @BeforeAll
    static void build(@TempDir Path first, @TempDir Path second) throws Exception {
        store = SmallStore.build(first);
        other = SmallStore.build(second);
        subjects = Map.of(
                State.KILLED, subject(store.open(), store.beforeLastFrame()),
                State.CLOSED, subject(store.closed(), store.contents()));
    }

    private static Subject subject(DirectoryImage image, StoreContents beforeLastFrame) throws IOException {
        StoreAnatomy anatomy = StoreAnatomy.of(image);
        return new Subject(image, anatomy, store.contents(), beforeLastFrame, StoreMap.of(image, anatomy));
    }

    // Cases and their outcomes.

    /** A damaged copy of a store, and the name of the damage. */
    private record Case(String name, DirectoryImage image) {}

    /** The outcome of opening a store: its contents or an exception. */
    private record Outcome(StoreContents contents, CaravanException rejection) {
        static Outcome of(CheckedSupplier open) throws IOException {
            try {
                return new Outcome(open.get(), null);
            } catch (CaravanException rejection) {
                return new Outcome(null, rejection);
            }
        }

        boolean namesAFile() {
            return rejection != null
                    && FILE_NAME.matcher(rejection.getMessage()).find();
        }

        @Override
        public String toString() {
            return rejection != null ? rejection.toString() : "contents " + contents;
        }
    }

    private interface CheckedSupplier {
        StoreContents get() throws IOException;
    }

    /** Recovers the store as an open does, but without writing, and reads every entry. */
    private static Outcome recovered(DirectoryImage image) throws IOException {
        return recovered(new MemoryStorage(image));
    }

    private static Outcome recovered(Storage storage) throws IOException {
        return Outcome.of(() -> {
            Recovery recovery = new Recovery(storage);
            if (recovery.nothingToOpen()) {
                throw new AssertionError("taken for an empty directory");
            }
            try (Recovered recovered = recovery.recover()) {
                return StoreAnatomy.contentsOf(recovered);
            }
        });
    }

    /** Opens the store, reads every entry, writes to the store, and closes it. */
    private static Outcome opened(MemoryStorage storage) throws IOException {
        StoreConfig config = SmallStore.config(Path.of("image")).build();
        return Outcome.of(() -> {
            try (Engine engine = Engine.open(config, storage, System::nanoTime)) {
                StoreContents contents = StoreContents.of(engine);
                engine.append(4_711, new byte[9]).join();
                return contents;
            }
        });
    }

    /** Runs the cases on all cores and collects their failures. */
    private static void forEach(int count, Function<Integer, List<String>> body) {
        Queue<String> failures = new ConcurrentLinkedQueue<>();
        IntStream.range(0, count).parallel().forEach(i -> {
            if (failures.size() < SHOWN_FAILURES) {
                failures.addAll(body.apply(i));
            }
        });
        assertThat(failures).isEmpty();
    }

    private interface CheckedBody {
        void run(List<String> wrong) throws IOException;
    }

    private static List<String> wrongIn(String name, CheckedBody body) {
        List<String> wrong = new ArrayList<>();
        try {
            body.run(wrong);
        } catch (IOException | RuntimeException | Error thrown) {
            wrong.add("threw " + thrown);
        }
        return wrong.stream().map(problem -> name + ": " + problem).toList();
    }

    // (a) every byte flipped

    private record Flip(String file, int offset, Area area) {
        boolean isNamedBy(CaravanException problem) {
            return area.isNamedBy(problem, file);
        }
    }

    @ParameterizedTest
    @EnumSource(State.class)
    @Tag("rounds")
    void flippedBitIsHarmlessOrReported(State state) {
        Seeds.forEach(1, seed -> flip(state, seed));
    }

    private static void flip(State state, long seed) {
        Subject subject = subjects.get(state);
        List<Flip> flips =
                Rounds.oneIn(QUICK_SHARE, flips(subject, state == State.KILLED ? List.of() : sameFiles()), seed);
        LOGGER.info("{}: {} bytes flipped one at a time", state, flips.size());
        forEach(flips.size(), i -> {
            Flip flip = flips.get(i);
            DirectoryImage damaged = subject.image().withFlip(flip.file(), flip.offset());
            return wrongIn(flip.toString(), wrong -> {
                checkOutcome(flip, recovered(damaged), subject, wrong);
                if (flip.area().kind() == Kind.CHECKPOINT) {
                    checkFaults(flip, Faults.ofCheckpoint(damaged, flip.file()), wrong);
                }
                if (flip.area().kind() != Kind.CHECKPOINT || i % VERIFY_STEP == 0) {
                    checkFaults(flip, Faults.of(damaged), wrong);
                }
                if (i % FULL_OPEN_STEP == 0) {
                    checkFullOpen(flip, damaged, subject, wrong);
                }
            });
        });
    }

    private static List<String> sameFiles() {
        List<String> different = store.open().differences(store.closed());
        return store.closed().files().keySet().stream()
                .filter(file -> !different.contains(file))
                .toList();
    }

    private static List<Flip> flips(Subject subject, List<String> sameFiles) {
        List<Flip> flips = new ArrayList<>();
        for (String file : subject.image().files().keySet()) {
            int step = sameFiles.contains(file) ? SAME_FILE_STEP : 1;
            for (int offset = 0; offset < subject.image().length(file); offset += step) {
                Area area = subject.map().areaOf(file, offset);
                if (area.kind() != Kind.UNUSED || offset % PADDING_STEP == 0) {
                    flips.add(new Flip(file, offset, area));
                }
            }
        }
        return flips;
    }

    private static void checkOutcome(Flip flip, Outcome outcome, Subject subject, List<String> wrong) {
        boolean right = outcome.rejection() == null && outcome.contents().equals(subject.contents());
        switch (flip.area().kind()) {
            case UNUSED, CHECKPOINT -> check(right, wrong, "should open with everything, came to ", outcome);
            case HEADER, FRAME -> check(right || outcome.namesAFile(), wrong, "came to ", outcome);
            case LAST_FRAME ->
                check(
                        outcome.rejection() == null && outcome.contents().equals(subject.beforeLastFrame()),
                        wrong,
                        "should lose exactly the last frame, came to ",
                        outcome);
            case ENTRY ->
                check(
                        outcome.rejection() != null && flip.isNamedBy(outcome.rejection()),
                        wrong,
                        "should name the entry, came to ",
                        outcome);
            default -> throw new AssertionError(flip.area().kind());
        }
    }

    private static void checkFaults(Flip flip, List<CaravanException> faults, List<String> wrong) {
        Kind kind = flip.area().kind();
        if (kind == Kind.UNUSED || kind == Kind.LAST_FRAME) {
            check(faults.isEmpty(), wrong, "verify should find nothing, finds ", faults);
        } else {
            boolean onlyIt =
                    faults.stream().allMatch(fault -> fault.getMessage().contains(flip.file()));
            boolean named = onlyIt && faults.stream().anyMatch(fault -> flip.isNamedBy(fault));
            check(named, wrong, "verify should name it alone, finds ", faults);
        }
    }

    /**
     * Checks that opening the damaged store with the entire engine has a permitted outcome. The engine may leave faults
     * only in frames and headers. If the engine rejects the store, it changes no file, unless an entry is damaged.
     */
    private static void checkFullOpen(Flip flip, DirectoryImage damaged, Subject subject, List<String> wrong)
            throws IOException {
        MemoryStorage storage = new MemoryStorage(damaged);
        Outcome outcome = opened(storage);
        checkOutcome(flip, outcome, subject, wrong);
        if (outcome.rejection() == null) {
            List<CaravanException> left = Faults.of(storage.image());
            Kind kind = flip.area().kind();
            boolean mayStay = kind == Kind.FRAME || kind == Kind.HEADER;
            check(left.isEmpty() || mayStay, wrong, "after opening and closing verify finds ", left);
        } else if (flip.area().kind() != Kind.ENTRY) {
            List<String> changed = storage.image().differences(damaged);
            check(changed.isEmpty(), wrong, "a rejection changed ", changed);
        }
    }

    private static void check(boolean right, List<String> wrong, String problem, Object found) {
        if (!right) {
            String text = String.valueOf(found);
            wrong.add(problem + text.substring(0, Math.min(text.length(), 400)));
        }
    }

    /**
     * Flips a bit of a list in the newest checkpoint and corrects the section's checksum. If the last section is damaged
     * too, nothing in this checkpoint has an effect: the older checkpoint is used.
     */
    @Test
    @Tag("rounds")
    void wrongListInCheckpointIsHarmlessOrReported() {
        Seeds.forEach(1, seed -> {
            Subject subject = subjects.get(State.KILLED);
            String file = subject.image().last("checkpoint-");
            List<Integer> bits = Rounds.oneIn(QUICK_SHARE, bitsOfLists(subject.image(), file), seed);
            LOGGER.info("{} bits flipped under correct checksums", bits.size());
            forEach(
                    bits.size(),
                    i -> wrongIn("bit " + bits.get(i), wrong -> {
                        DirectoryImage lie = subject.image().edited(file, bytes -> {
                            int at = bits.get(i) / Byte.SIZE;
                            bytes.put(at, (byte) (bytes.get(at) ^ 1 << bits.get(i) % Byte.SIZE));
                            Reseal.checkpoint(bytes);
                        });
                        checkWhole(recovered(lie), subject, wrong);
                        Outcome outcome = recovered(lie.withFlip(file, lie.length(file) - 1));
                        check(
                                subject.contents().equals(outcome.contents()),
                                wrong,
                                "should use the older, came to ",
                                outcome);
                    }));
        });
    }

    /** Returns the bits of all sections with lists, except their checksums and lengths. */
    private static List<Integer> bitsOfLists(DirectoryImage image, String file) {
        List<Integer> bits = new ArrayList<>();
        Sections.forEach(image.buffer(file), at -> {
            int bytes = Sections.bytes(image.buffer(file), at);
            if (bytes > CheckpointLayout.SECTION_HEADER_BYTES) {
                IntStream.range((at + CheckpointLayout.SECTION_PARTITION) * Byte.SIZE, (at + bytes) * Byte.SIZE)
                        .forEach(bits::add);
            }
        });
        return bits;
    }

    // (b) truncated at every length

    @ParameterizedTest
    @EnumSource(State.class)
    @Tag("rounds")
    void truncatedFileIsReplacedOrReported(State state) {
        Seeds.forEach(1, seed -> truncate(state, seed));
    }

    private static void truncate(State state, long seed) {
        Subject subject = subjects.get(state);
        List<Flip> cuts = Rounds.oneIn(QUICK_SHARE, cuts(subject), seed);
        LOGGER.info("{}: {} truncations", state, cuts.size());
        forEach(cuts.size(), i -> {
            Flip cut = cuts.get(i);
            DirectoryImage damaged = subject.image().truncated(cut.file(), cut.offset());
            return wrongIn(cut.toString(), wrong -> {
                Outcome outcome = i % FULL_OPEN_STEP == 0 ? opened(new MemoryStorage(damaged)) : recovered(damaged);
                checkWhole(outcome, subject, wrong);
                boolean needed = subject.map().uses(cut.file());
                List<CaravanException> faults = Faults.of(damaged);
                check(
                        !needed
                                || faults.stream()
                                        .anyMatch(fault -> fault.getMessage().contains(cut.file())),
                        wrong,
                        "verify should name it, finds ",
                        faults);
            });
        });
    }

    /**
     * Returns truncations to every length within a header or the last frame, to the start of every other area, and to
     * every {@value #TRUNCATION_STEP}th length. The area of a cut is the area that contains it.
     */
    private static List<Flip> cuts(Subject subject) {
        List<Flip> cuts = new ArrayList<>();
        for (String file : subject.image().files().keySet()) {
            for (int length = 0; length < subject.image().length(file); length++) {
                Area area = subject.map().areaOf(file, length);
                boolean matters = area.kind() == Kind.HEADER
                        || area.kind() == Kind.LAST_FRAME
                        || length == area.start() && !isEmptySection(area);
                if (matters || length % TRUNCATION_STEP == 0) {
                    cuts.add(new Flip(file, length, area));
                }
            }
        }
        return cuts;
    }

    /** Whether the area is an empty section. An image has many identical empty sections. */
    private static boolean isEmptySection(Area area) {
        return area.kind() == Kind.CHECKPOINT && area.end() - area.start() == CheckpointLayout.SECTION_HEADER_BYTES;
    }

    /** Checks that the store was opened with its entire contents, or that the exception names a file. */
    private static void checkWhole(Outcome outcome, Subject subject, List<String> wrong) {
        boolean right = outcome.rejection() == null && outcome.contents().equals(subject.contents());
        check(right || outcome.namesAFile(), wrong, "came to ", outcome);
    }

    // (c) deleted, (d) exchanged

    @ParameterizedTest
    @EnumSource(State.class)
    void missingFileIsReplacedOrReported(State state) {
        Subject subject = subjects.get(state);
        List<Case> cases = new ArrayList<>();
        for (String file : subject.image().files().keySet()) {
            cases.add(new Case("without " + file, subject.image().without(file)));
        }
        checkWholeFiles(cases, subject);
    }

    @ParameterizedTest
    @EnumSource(State.class)
    @Tag("rounds")
    void swappedFilesAreHarmlessOrReported(State state) {
        Subject subject = subjects.get(state);
        DirectoryImage image = subject.image();
        List<Case> cases = new ArrayList<>();
        for (String one : image.files().keySet()) {
            for (String two : image.files().tailMap(one + "\0").keySet()) {
                cases.add(new Case(
                        one + " and " + two + " in each other's place",
                        image.with(one, image.bytes(two)).with(two, image.bytes(one))));
            }
        }
        Seeds.forEach(1, seed -> checkWholeFiles(Rounds.oneIn(WHOLE_FILES_SHARE, cases, seed), subject));
    }

    @ParameterizedTest
    @EnumSource(State.class)
    @Tag("rounds")
    void duplicatedFileIsHarmlessOrReported(State state) {
        Subject subject = subjects.get(state);
        DirectoryImage image = subject.image();
        List<Case> cases = new ArrayList<>();
        for (String file : image.files().keySet()) {
            for (String place : places(image)) {
                if (!place.equals(file)) {
                    cases.add(new Case(file + " also as " + place, image.with(place, image.bytes(file))));
                }
            }
        }
        Seeds.forEach(1, seed -> checkWholeFiles(Rounds.oneIn(WHOLE_FILES_SHARE, cases, seed), subject));
    }

    /** Returns all existing file names and three unused names for each kind of file: the next and two distant ones. */
    private static List<String> places(DirectoryImage image) {
        List<String> places = new ArrayList<>(image.files().keySet());
        for (FileNames kind : FileNames.values()) {
            String any = kind.of(0);
            String last = image.last(any.substring(0, any.indexOf('-') + 1));
            places.add(kind.of(kind.number(last).getAsLong() + 1));
            places.add(kind.of(kind.number(last).getAsLong() + 1_000));
            places.add(kind.of(Long.MAX_VALUE));
        }
        return places;
    }

    @ParameterizedTest
    @EnumSource(State.class)
    @Tag("rounds")
    void fileOfAnotherStoreIsHarmlessOrReported(State state) {
        Subject subject = subjects.get(state);
        DirectoryImage image = subject.image();
        DirectoryImage others = state == State.KILLED ? other.open() : other.closed();
        List<Case> cases = new ArrayList<>();
        for (String place : places(image)) {
            for (String file : others.files().keySet()) {
                cases.add(new Case("another store's " + file + " as " + place, image.with(place, others.bytes(file))));
            }
        }
        Seeds.forEach(1, seed -> checkWholeFiles(Rounds.oneIn(WHOLE_FILES_SHARE, cases, seed), subject));
    }

    /** Opens the store of each case with the entire engine. If opening fails, {@code verify} must report a fault. */
    private static void checkWholeFiles(List<Case> cases, Subject subject) {
        LOGGER.info("{} cases of whole files", cases.size());
        forEach(cases.size(), i -> {
            Case damage = cases.get(i);
            return wrongIn(damage.name(), wrong -> {
                MemoryStorage storage = new MemoryStorage(damage.image());
                Outcome outcome = opened(storage);
                checkWhole(outcome, subject, wrong);
                if (outcome.rejection() != null) {
                    check(!Faults.of(damage.image()).isEmpty(), wrong, "verify finds nothing, opening ", outcome);
                    List<String> changed = storage.image().differences(damage.image());
                    check(changed.isEmpty(), wrong, "a rejection changed ", changed);
                } else {
                    List<CaravanException> left = Faults.of(storage.image());
                    check(left.isEmpty() || damagedSpare(subject, damage), wrong, "opened, closed, verify: ", left);
                }
            });
        });
    }

    /** Whether the damage is in a log segment that only the older checkpoint needs, and that is deleted with it. */
    private static boolean damagedSpare(Subject subject, Case damage) {
        CheckpointHeader newest = subject.anatomy().newest();
        String replayStart = FileNames.LOG.of(newest.startLsn() / newest.logSegmentBytes());
        return subject.image().differences(damage.image()).stream()
                .anyMatch(name -> name.startsWith("log-") && name.compareTo(replayStart) < 0);
    }

    // (e) newest checkpoint damaged, and log cut off

    /** The state of a store whose log ends earlier than it did, and the LSN at which the lost part began. */
    private record CutLog(DirectoryImage image, long lsn) {}

    /**
     * Damages each part of the newest checkpoint, and also cuts off the log at each frame that the older checkpoint
     * does not need. Opens the store only if the log reaches the end of the damaged checkpoint.
     */
    @Test
    void logShorterThanDamagedCheckpointIsReported() throws IOException {
        Subject subject = subjects.get(State.KILLED);
        CheckpointHeader newest = subject.anatomy().newest();
        List<CutLog> cutLogs = cutLogs(subject);
        assertThat(cutLogs.stream().map(CutLog::lsn)).contains(newest.endLsn());
        assertThat(cutLogs.stream().map(cut -> Long.signum(cut.lsn() - newest.endLsn())))
                .contains(-1, 0, 1);
        List<Case> cases = new ArrayList<>();
        List<StoreContents> expected = new ArrayList<>();
        for (CutLog cut : cutLogs) {
            StoreContents contents =
                    cut.lsn() < newest.endLsn() ? null : recovered(cut.image()).contents();
            for (Case damage : damagedCheckpoints(cut.image())) {
                cases.add(new Case(damage.name() + ", log cut off at " + cut.lsn(), damage.image()));
                expected.add(contents);
            }
        }
        forEach(
                cases.size(),
                i -> wrongIn(cases.get(i).name(), wrong -> {
                    DirectoryImage damaged = cases.get(i).image();
                    Outcome outcome = recovered(damaged);
                    if (expected.get(i) != null) {
                        check(expected.get(i).equals(outcome.contents()), wrong, "should open, came to ", outcome);
                        return;
                    }
                    check(
                            saysLogWasLonger(outcome.rejection(), subject),
                            wrong,
                            "should be rejected, came to ",
                            outcome);
                    List<CaravanException> faults = Faults.of(damaged);
                    check(
                            faults.stream().anyMatch(fault -> saysLogWasLonger(fault, subject)),
                            wrong,
                            "verify should report the lost part, finds ",
                            faults);
                }));
    }

    private static boolean saysLogWasLonger(CaravanException problem, Subject subject) {
        return problem instanceof CorruptStoreException
                && Stream.of(
                                "log-",
                                "the log ends here, but",
                                subject.image().last("checkpoint-"),
                                " shows that it reached LSN "
                                        + subject.anatomy().newest().endLsn(),
                                "repair")
                        .allMatch(problem.getMessage()::contains);
    }

    /**
     * Makes each block of the newest checkpoint unreadable, while its header is intact or damaged. The store opens from
     * the older checkpoint, but only if the log reaches the end of the newest one.
     */
    @Test
    void unreadableBlockOfNewestCheckpointCountsAsDamage() throws IOException {
        Subject subject = subjects.get(State.KILLED);
        String checkpoint = subject.image().last("checkpoint-");
        CutLog tooShort = cutLogs(subject).get(0);
        assertThat(tooShort.lsn()).isLessThan(subject.anatomy().newest().endLsn());
        for (int at = 0; at < subject.image().length(checkpoint); at += StoreConfig.BLOCK_BYTES) {
            for (int flipped : new int[] {StoreConfig.BLOCK_BYTES, CheckpointLayout.END_LSN}) {
                DirectoryImage whole = subject.image().withFlip(checkpoint, flipped);
                assertThat(recovered(unreadable(whole, checkpoint, at, 1)).contents())
                        .as("block at %d is unreadable, byte %d is wrong", at, flipped)
                        .isEqualTo(subject.contents());
                DirectoryImage cut = tooShort.image().withFlip(checkpoint, flipped);
                CaravanException rejection =
                        recovered(unreadable(cut, checkpoint, at, 1)).rejection();
                assertThat(saysLogWasLonger(rejection, subject))
                        .as("%s", rejection)
                        .isTrue();
            }
        }
    }

    /** Checks that a store is not opened if nothing shows whether its log has reached the end of the checkpoint. */
    @Test
    void entirelyUnreadableCheckpointIsReported() {
        DirectoryImage image = subjects.get(State.KILLED).image();
        String checkpoint = image.last("checkpoint-");
        assertThatIOException()
                .isThrownBy(() -> recovered(unreadable(image, checkpoint, 0, image.length(checkpoint))))
                .withMessageContainingAll(checkpoint, "Input/output error");
    }

    /** Returns a disk that cannot read the blocks of a file that contain any of these bytes. */
    private static Storage unreadable(DirectoryImage image, String file, int from, int bytes) {
        FaultStorage disk = new FaultStorage(new MemoryStorage(image));
        disk.fail(
                FaultStorage.on(FaultStorage.Kind.READ, Pattern.quote(file))
                        .and(call -> call.position() < from + bytes && from < call.position() + call.bytes()),
                "Input/output error");
        return disk;
    }

    /** Repairs a store with each kind of damage to the newest checkpoint, and a log that is too short for it. */
    @Test
    void logShorterThanDamagedCheckpointIsRepaired(@TempDir Path work) throws IOException {
        Subject subject = subjects.get(State.KILLED);
        String checkpoint = subject.image().last("checkpoint-");
        List<CutLog> tooShort = cutLogs(subject).stream()
                .filter(cut -> cut.lsn() < subject.anatomy().newest().endLsn())
                .toList();
        for (CutLog cut : List.of(tooShort.get(0), tooShort.get(tooShort.size() - 1))) {
            for (Case damage : damagedCheckpoints(cut.image())) {
                Path directory = damage.image().writeTo(work.resolve(cut.lsn() + " " + damage.name()));
                Path kept = work.resolve("kept " + directory.getFileName());
                StoreContents contents =
                        recovered(damage.image().without(checkpoint)).contents();

                RepairReport plan = DurableListStore.planRepair(directory, VerifyReport.Progress.NONE);
                assertThat(DirectoryImage.of(directory).differences(damage.image()))
                        .isEmpty();
                RepairReport report = DurableListStore.repair(directory, kept, VerifyReport.Progress.NONE);

                assertThat(plan.cutLsn()).isEqualTo(report.cutLsn()).isLessThanOrEqualTo(cut.lsn());
                assertThat(plan.keptFiles()).hasSameSizeAs(report.keptFiles());
                assertThat(report.keptFiles()).contains(kept.resolve(checkpoint).toString());
                DirectoryImage changed = DirectoryImage.of(kept);
                changed.files()
                        .forEach((name, bytes) -> assertThat(bytes)
                                .as(name)
                                .isEqualTo(damage.image().bytes(name)));
                assertThat(Faults.of(directory)).as(damage.name()).isEmpty();
                assertThat(opened(new MemoryStorage(DirectoryImage.of(directory)))
                                .contents())
                        .as(damage.name())
                        .isEqualTo(contents);
            }
        }
    }

    /** Cuts off the log at each frame that the older checkpoint does not need: by zeros, and by lost files. */
    private static List<CutLog> cutLogs(Subject subject) {
        long needed = subject.anatomy().checkpoints().get(0).endLsn();
        List<CutLog> cuts = new ArrayList<>();
        subject.anatomy().frames().stream()
                .filter(frame -> frame.lsn() >= needed)
                .forEach(frame -> {
                    DirectoryImage image = subject.image();
                    DirectoryImage lost = image;
                    for (String name : image.names("log-")) {
                        if (name.compareTo(frame.file()) >= 0) {
                            int from = name.equals(frame.file()) ? frame.offset() : StoreConfig.BLOCK_BYTES;
                            image = image.edited(name, file -> file.put(from, new byte[file.limit() - from]));
                            lost = lost.without(name);
                        }
                    }
                    cuts.add(new CutLog(image, frame.lsn()));
                    if (frame.offset() == StoreConfig.BLOCK_BYTES) {
                        cuts.add(new CutLog(lost, frame.lsn()));
                    }
                });
        return cuts;
    }

    /** Damages each field of the headers, the first, middle, and last section, and the length of the newest checkpoint. */
    private static List<Case> damagedCheckpoints(DirectoryImage image) {
        String file = image.last("checkpoint-");
        List<Integer> sections = new ArrayList<>();
        Sections.forEach(image.buffer(file), sections::add);
        int middle = sections.get(sections.size() / 2);
        List<Case> cases = new ArrayList<>();
        IntStream.concat(
                        IntStream.iterate(0, at -> at < CheckpointLayout.HEADER_BYTES, at -> at + Integer.BYTES),
                        IntStream.of(sections.get(0), middle, image.length(file) - 1))
                .forEach(at -> cases.add(new Case("byte " + at + " flipped", image.withFlip(file, at))));
        for (int length : new int[] {CheckpointLayout.HEADER_BYTES, middle, middle + 1, image.length(file) - 1}) {
            cases.add(new Case("truncated to " + length, image.truncated(file, length)));
        }
        cases.add(new Case("without headers", image.edited(file, bytes -> bytes.put(0, new byte[middle]))));
        return cases;
    }

    @Test
    void sampleStoreHasRequiredLayout() {
        StoreAnatomy killed = subjects.get(State.KILLED).anatomy();
        StoreAnatomy closed = subjects.get(State.CLOSED).anatomy();
        assertThat(killed.checkpoints()).hasSize(2);
        assertThat(killed.frames().size()).isGreaterThan(killed.replayed().size());
        assertThat(killed.replayed()).hasSizeGreaterThan(8);
        assertThat(killed.replayed().stream().map(StoreAnatomy.Frame::file).distinct())
                .hasSizeGreaterThanOrEqualTo(3);
        assertThat(killed.entries()).extracting(HeapEntry::file).contains(FileNames.HEAP.of(0), FileNames.HEAP.of(1));
        assertThat(closed.replayed()).isEmpty();
        assertThat(closed.frames()).isNotEmpty();
        assertThat(store.open().names("log-").get(0)).as("oldest log segment").isNotEqualTo(FileNames.LOG.of(0));
    }
}
