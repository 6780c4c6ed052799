package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.engine.Engine;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.inspect.Salvager;
import io.caravan.inspect.Verifier;
import io.caravan.io.Storage;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreMap;
import io.caravan.testing.StoreMap.Kind;
import io.caravan.testing.Value;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damages a small store in each way that {@link DamageCatalogueTest} does, and salvages it. The new store passes
 * verification and contains only values that were written. It contains as much as the table in docs/operate/repair.md
 * states; this test generates that table. The salvage reports missing values.
 */
@Timeout(1800)
class SalvagerTest {
    private static final int FLIP_STEP = 1009;
    private static final int CUT_STEP = 2039;
    private static final Path DOCUMENT = Path.of("docs/operate/repair.md");

    private static DirectoryImage image;
    private static DirectoryImage others;
    private static StoreContents contents;
    private static StoreMap map;
    private static Set<Entry> entries;

    private record IdAndValue(long id, ByteBuffer value) {}

    private record Entry(long id, Value value) {}

    /**
     * The result of a salvage: the share of values recovered with their original sequences, the share recovered at all,
     * and the number of reported losses.
     */
    private record Back(double placed, double values, long losses) {}

    @BeforeAll
    static void build(@TempDir Path one, @TempDir Path two) throws Exception {
        SmallStore store = SmallStore.build(one);
        image = store.open();
        contents = store.contents();
        others = SmallStore.build(two).open();
        StoreAnatomy anatomy = StoreAnatomy.of(image);
        map = StoreMap.of(image, anatomy);
        entries = entriesOf(contents);
    }

    private static Set<Entry> entriesOf(StoreContents salvagedContents) {
        Set<Entry> found = new HashSet<>();
        salvagedContents.lists().forEach((id, list) -> list.values().forEach(value -> found.add(new Entry(id, value))));
        return found;
    }

    private static List<IdAndValue> valuesOf(StoreContents salvagedContents) {
        List<IdAndValue> found = new ArrayList<>();
        salvagedContents
                .lists()
                .forEach((id, list) -> list.values().forEach(value -> found.add(new IdAndValue(id, value.bytes()))));
        return found;
    }

    /** Whether the small store ever contained this value. The list and the length determine nearly every value. */
    private static boolean wasWritten(IdAndValue found) {
        ByteBuffer value = found.value();
        return ByteBuffer.wrap(StoreCalls.bytes(value.remaining(), (int) found.id()))
                        .equals(value)
                || valuesOf(contents).contains(found);
    }

    private static Back salvage(DirectoryImage damaged) throws IOException {
        MemoryStorage from = new MemoryStorage(damaged);
        Back back = salvage(from);
        assertThat(from.image().differences(damaged)).isEmpty();
        return back;
    }

    private static Back salvage(Storage from) throws IOException {
        MemoryStorage to = new MemoryStorage();
        List<SalvageReport.Loss> losses = new ArrayList<>();
        SalvageReport report = Salvager.salvage(from, to, listener(losses));
        assertThat(Verifier.verify(to, VerifyReport.Progress.NONE).faults()).isEmpty();
        assertThat(report.losses()).isEqualTo(losses.size());
        try (Engine engine = Engine.open(SmallStore.config(Path.of("new")).build(), to, System::nanoTime)) {
            StoreContents salvagedContents = StoreContents.of(engine);
            List<IdAndValue> values = valuesOf(salvagedContents);
            assertThat(values).allMatch(SalvagerTest::wasWritten);
            assertThat(report.entries()).isEqualTo(values.size());
            List<IdAndValue> wanted = valuesOf(contents);
            values.forEach(wanted::remove);
            Set<Entry> missing = new HashSet<>(entries);
            missing.removeAll(entriesOf(salvagedContents));
            return new Back(
                    1 - missing.size() / (double) entries.size(),
                    1 - wanted.size() / (double) entries.size(),
                    losses.size());
        }
    }

    private static SalvageReport.Listener listener(List<SalvageReport.Loss> losses) {
        return new SalvageReport.Listener() {
            @Override
            public void lost(SalvageReport.Loss loss) {
                losses.add(loss);
            }

            @Override
            public void at(String step, long done, long total) {}
        };
    }

    @Test
    void salvagesIntactStoreWithoutLoss() throws Exception {
        MemoryStorage to = new MemoryStorage();
        List<SalvageReport.Loss> losses = new ArrayList<>();

        Salvager.salvage(new MemoryStorage(image), to, listener(losses));

        assertThat(losses).isEmpty();
        try (Engine engine = Engine.open(SmallStore.config(Path.of("new")).build(), to, System::nanoTime)) {
            assertThat(StoreContents.of(engine)).isEqualTo(contents);
        }
    }

    @Test
    void salvagesStoreWithUnreadableBlock() throws Exception {
        for (String file : image.files().keySet()) {
            for (int at = 0; at < image.length(file); at += Blocks.BLOCK_BYTES) {
                int block = at;
                FaultStorage disk = new FaultStorage(new MemoryStorage(image));
                disk.fail(
                        FaultStorage.on(FaultStorage.Kind.READ, Pattern.quote(file))
                                .and(call -> call.position() < block + Blocks.BLOCK_BYTES
                                        && block < call.position() + call.bytes()),
                        "Input/output error");
                Back back = salvage(disk);
                assertThat(back.placed() == 1 || back.losses() > 0)
                        .as("%s at offset %d: %s", file, at, back)
                        .isTrue();
            }
        }
    }

    /** Checks that a missing log is reported if a damaged partition must be read from the older checkpoint. */
    @Test
    void reportsLogThatEndsBeforeNewestCheckpoint() throws Exception {
        String newest = image.last("checkpoint-");
        DirectoryImage damaged =
                image.withFlip(newest, image.length(newest) - 1).withoutAll("log-");
        List<SalvageReport.Loss> losses = new ArrayList<>();

        Salvager.salvage(new MemoryStorage(damaged), new MemoryStorage(), listener(losses));

        assertThat(losses).anyMatch(loss -> loss.toString().contains("the log ends at LSN"));
    }

    @Test
    @Tag("slow")
    void documentListsRecoveryForEachDamage() throws Exception {
        List<String> rows = new ArrayList<>();
        Map<Kind, List<DirectoryImage>> flips = flips();
        rows.add(row("a byte changed in a checkpoint", flips.get(Kind.CHECKPOINT)));
        rows.add(row("a byte changed in the header of a segment", flips.get(Kind.HEADER)));
        rows.add(row("a byte changed in a frame of the log", flips.get(Kind.FRAME)));
        rows.add(row("a byte changed in the last frame", flips.get(Kind.LAST_FRAME)));
        rows.add(row("a byte changed in a value in the heap", flips.get(Kind.ENTRY)));
        rows.add(row("a byte changed elsewhere", flips.get(Kind.UNUSED)));
        rows.add(row("a checkpoint cut short", cuts("checkpoint-")));
        rows.add(row("a log segment cut short", cuts("log-")));
        rows.add(row("a heap segment cut short", cuts("heap-")));
        rows.add(row("a checkpoint missing", without("checkpoint-")));
        rows.add(row("a log segment missing", without("log-")));
        rows.add(row("a heap segment missing", without("heap-")));
        rows.add(row("both checkpoints missing", List.of(image.withoutAll("checkpoint-"))));
        rows.add(row("the whole log missing", List.of(image.withoutAll("log-"))));
        rows.add(row("the whole heap missing", List.of(image.withoutAll("heap-"))));
        rows.add(row("two files in each other's place", exchanged()));
        rows.add(row("a file also in another's place", doubled(image)));
        rows.add(row("another store's file in a file's place", doubled(others)));
        String document = Files.readString(root().resolve(DOCUMENT));
        assertThat(document)
                .as("the table in %s should be:%n%s", DOCUMENT, String.join("\n", rows))
                .contains(String.join("\n", rows));
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve(DOCUMENT)) ? here : here.getParent();
    }

    private static String row(String damage, List<DirectoryImage> cases) {
        List<Back> backs = cases.stream().parallel().map(SalvagerTest::salvaged).toList();
        long whole = backs.stream().filter(back -> back.placed() == 1).count();
        assertThat(backs)
                .as(damage)
                .allSatisfy(back ->
                        assertThat(back.placed() == 1 || back.losses() > 0).isTrue());
        return String.format(
                Locale.ROOT,
                "| %s | %d | %d | %.1f %% | %.1f %% |",
                damage,
                cases.size(),
                whole,
                100 * backs.stream().mapToDouble(Back::values).average().orElse(0),
                100 * backs.stream().mapToDouble(Back::values).min().orElse(0));
    }

    private static Back salvaged(DirectoryImage damaged) {
        try {
            return salvage(damaged);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Map<Kind, List<DirectoryImage>> flips() {
        SortedMap<Kind, List<DirectoryImage>> flips = new TreeMap<>();
        for (String file : image.files().keySet()) {
            for (int offset = 0; offset < image.length(file); offset++) {
                StoreMap.Area area = map.areaOf(file, offset);
                boolean first = area.kind() != Kind.UNUSED && area.kind() != Kind.CHECKPOINT && offset == area.start();
                if (first || offset % FLIP_STEP == 0) {
                    flips.computeIfAbsent(area.kind(), any -> new ArrayList<>()).add(image.withFlip(file, offset));
                }
            }
        }
        return flips;
    }

    private static List<DirectoryImage> cuts(String beginning) {
        List<DirectoryImage> cuts = new ArrayList<>();
        for (String file : image.names(beginning)) {
            for (int length = 0; length < image.length(file); length += CUT_STEP) {
                cuts.add(image.truncated(file, length));
            }
        }
        return cuts;
    }

    private static List<DirectoryImage> without(String beginning) {
        return image.names(beginning).stream().map(image::without).toList();
    }

    private static List<DirectoryImage> exchanged() {
        List<DirectoryImage> cases = new ArrayList<>();
        for (String one : image.files().keySet()) {
            for (String two : image.files().tailMap(one + "\0").keySet()) {
                cases.add(image.with(one, image.bytes(two)).with(two, image.bytes(one)));
            }
        }
        return cases;
    }

    private static List<DirectoryImage> doubled(DirectoryImage source) {
        List<DirectoryImage> cases = new ArrayList<>();
        for (String place : image.files().keySet()) {
            for (String file : source.files().keySet()) {
                if (source != image || !place.equals(file)) {
                    cases.add(image.with(place, source.bytes(file)));
                }
            }
        }
        return cases;
    }

    /** Checks that values before a gap are renumbered to close it, and that the next sequence stays the same. */
    @Test
    void shiftsValuesBeforeGapAndReportsIt(@TempDir Path work) throws Exception {
        Path damaged = work.resolve("damaged");
        StoreAnatomy.HeapEntry entry;
        try (ListStore store = DurableListStore.open(SmallStore.config(damaged).build())) {
            for (int i = 0; i < 5; i++) {
                store.append(7, new byte[] {(byte) i}).join();
            }
            store.checkpoint();
            // After two more checkpoints, the log with these values is obsolete, and is deleted in the background.
            for (int i = 0; i < 40; i++) {
                store.append(8, new byte[4_000]).join();
                store.trim(8, 1).join();
            }
            store.checkpoint();
            store.checkpoint();
            Eventually.await(
                    "the log segment that had them is gone",
                    () -> Files.notExists(damaged.resolve(FileNames.LOG.of(0))));
        }
        entry = StoreAnatomy.of(DirectoryImage.of(damaged)).entries().stream()
                .filter(any -> any.id() == 7 && any.sequence() == 2)
                .findFirst()
                .orElseThrow();
        DirectoryImage rotten = DirectoryImage.of(damaged).withFlip(entry.file(), entry.offset() + 8);
        Files.write(damaged.resolve(entry.file()), rotten.bytes(entry.file()));
        List<SalvageReport.Loss> losses = new ArrayList<>();
        Path link = Files.createSymbolicLink(work.resolve("link"), damaged);
        assertThatThrownBy(() -> DurableListStore.salvage(damaged, link.resolve("new"), listener(losses)))
                .isInstanceOf(StoreDirectoryException.class)
                .hasMessageContaining("inside");

        SalvageReport report = DurableListStore.salvage(damaged, work.resolve("new"), listener(losses));

        assertThat(report.lostEntries()).isEqualTo(1);
        assertThat(losses.get(0).toString())
                .contains("document 7, sequence 2: ", entry.file(), "offset " + entry.offset());
        assertThat(losses.get(1).reason()).contains("document 7", "oldest 2 values have moved up", "from 1 on");
        try (ListStore store =
                DurableListStore.open(SmallStore.config(work.resolve("new")).build())) {
            assertThat(store.read(7))
                    .extracting(found -> found.value()[0])
                    .containsExactly((byte) 0, (byte) 1, (byte) 3, (byte) 4);
            assertThat(store.read(7).get(3).sequence()).isEqualTo(4);
            assertThat(store.append(7, new byte[1]).join()).isEqualTo(5);
        }
    }
}
