package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.engine.Engine;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.StoreIdentity;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Cuts the power during restores, whose writes become durable only with the flush before a report. A document must
 * survive from its report on, also while the store is being closed. Until then, a document that the restore replaces
 * must survive in its old state, and a document that it creates must not exist in part.
 */
class RestoreCrashTest {
    private static final StoreConfig CONFIG =
            SmallFiles.config(Path.of("crash")).build();

    private static final int DOCUMENTS = 40;
    /** The number of values of a document that does not fit into one write. */
    private static final int LONG_COUNT = 16_000;

    private static final int JOBS = 4;
    private static final int CALLS_PER_CUT = 6;
    private static final int SABOTAGED_SEEDS = 20;

    @TempDir
    private Path directory;

    @Test
    @Tag("rounds")
    void powerCutLosesNothingThatWasReported() {
        Seeds.forEach(Rounds.of(1, 40), RestoreCrashTest::check);
    }

    @Test
    void detectsReportBeforeFlush() throws ReflectiveOperationException, IOException {
        SourceEdit noFlush =
                new SourceEdit("server/archive/restore/WholeRestore", "        documents.store().flush();\n", "");
        Method check = SabotagedBuild.of(List.of(noFlush), directory)
                .loadClass(RestoreCrashTest.class.getName())
                .getDeclaredMethod("check", long.class);
        check.setAccessible(true);
        assertThatThrownBy(() -> {
                    for (long seed = 1; seed <= SABOTAGED_SEEDS; seed++) {
                        check.invoke(null, seed);
                    }
                })
                .hasCauseInstanceOf(AssertionError.class);
    }

    /** Restores an archive to an empty store, and later to the same store, after the archive has changed. */
    static void check(long seed) {
        Random random = new Random(seed);
        TestArchive archive = new TestArchive();
        Map<String, List<String>> contents = new TreeMap<>();
        LongStream.range(0, DOCUMENTS).forEach(i -> put(archive, contents, "d" + i, i + 1, 0, 3));
        put(archive, contents, "long", DOCUMENTS + 1, 0, LONG_COUNT);
        CrashStorage disk = new CrashStorage(seed);
        restore(archive, disk, random, Map.of(), contents);

        Map<String, List<String>> before = new HashMap<>(contents);
        LongStream.range(0, DOCUMENTS).filter(i -> i % 2 == 0).forEach(i -> {
            // Of another incarnation, or trimmed: the restore replaces the document.
            put(archive, contents, "d" + i, i % 4 == 0 ? i + 1 : i + 1000, 1, 5);
        });
        put(archive, contents, "long", 1000, 2, LONG_COUNT);
        for (int i = 1; i < DOCUMENTS; i += 4) {
            archive.delete("d" + i);
            contents.remove("d" + i);
        }
        restore(archive, disk.powerCut(random), random, before, contents);
    }

    private static void put(
            TestArchive archive,
            Map<String, List<String>> contents,
            String name,
            long incarnation,
            long first,
            long next) {
        archive.put(name, incarnation, first, next);
        contents.put(name, TestArchive.texts(incarnation, first, next));
    }

    private static void restore(
            TestArchive archive,
            CrashStorage disk,
            Random random,
            Map<String, List<String>> before,
            Map<String, List<String>> after) {
        List<Cut> cuts = Collections.synchronizedList(new ArrayList<>());
        Set<String> reported = new ConcurrentSkipListSet<>();
        RestoreProgress progress = new RestoreProgress() {
            @Override
            protected void restored(Restored document) {
                super.restored(document);
                reported.add(document.name().text());
                if (document.name().text().equals("long") || random.nextInt(8) == 0) {
                    cuts.add(new Cut(disk.powerCut(random), Set.copyOf(reported), false));
                }
            }
        };
        Random duringCalls = new Random(random.nextLong());
        int[] calls = {0};
        try (ListStore store = Engine.open(CONFIG, disk, System::nanoTime);
                DocumentService documents = DocumentService.offline(store)) {
            StoreIdentity.adopt(store, TestArchive.STORE);
            disk.director(call -> {
                synchronized (calls) {
                    if (calls[0]++ % CALLS_PER_CUT == 0) {
                        Set<String> reportedBefore = Set.copyOf(reported);
                        cuts.add(new Cut(disk.powerCut(duringCalls), reportedBefore, false));
                    }
                }
                return CrashStorage.Outcome.PASS;
            });
            new WholeRestore(archive.open(), documents, JOBS, false, progress).run();
            cuts.add(new Cut(disk.powerCut(random), after.keySet(), true));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        assertThat(reported).isEqualTo(after.keySet());
        cuts.forEach(cut -> cut.check(before, after));
    }

    /** A disk after a power cut, the documents that the restore had reported before, and whether it had ended. */
    private record Cut(CrashStorage disk, Set<String> reported, boolean ended) {
        void check(Map<String, List<String>> before, Map<String, List<String>> after) {
            try (TestStore here = new TestStore(Engine.open(CONFIG, disk, System::nanoTime))) {
                Set<String> names = new TreeSet<>(before.keySet());
                names.addAll(after.keySet());
                for (String name : names) {
                    List<String> found = here.find(name) == null ? null : here.read(name);
                    if (ended || reported.contains(name) || !Objects.equals(found, before.get(name))) {
                        assertThat(found).as("document '%s'", name).isEqualTo(after.get(name));
                    }
                }
                if (ended) {
                    assertThat(here.documents.documents()).isEqualTo(after.size());
                }
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
