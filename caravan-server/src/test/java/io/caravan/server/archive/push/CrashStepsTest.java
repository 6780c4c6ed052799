package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests crashes of a host at each step of archiving, pruning, and restoring. */
@Tag("rounds")
class CrashStepsTest {
    private static final int SEEDS = Rounds.of(1, 5);
    private static final int DISK_CALLS_PER_IMAGE = Rounds.of(20, 4);

    @Test
    void archivingAndPruningSurviveCrashAtAnyStep() {
        Seeds.forEach(SEEDS, CrashScenario::check);
    }

    @Test
    void restoreSurvivesCrashAtAnyStep() {
        Seeds.forEach(SEEDS, CrashStepsTest::restore);
    }

    /** Restores an archive, and then completes the restore from each disk state that a power cut would have left. */
    private static void restore(long seed) throws IOException {
        MemoryObjects objects = archive(seed);
        Map<String, CrashState> archived = CrashRestore.archived(Archive.open(objects.client()));
        SplittableRandom cuts = new SplittableRandom(seed);
        List<CrashStorage> images = Collections.synchronizedList(new ArrayList<>());
        CrashStorage disk = new CrashStorage(seed);
        disk.director(call -> {
            synchronized (cuts) {
                if (cuts.nextInt(DISK_CALLS_PER_IMAGE) == 0) {
                    images.add(disk.powerCut(cuts));
                }
            }
            return CrashStorage.Outcome.PASS;
        });
        Map<String, CrashState> restored = CrashRestore.restored(
                objects.client().faults((number, call, key) -> {
                    synchronized (cuts) {
                        images.add(disk.powerCut(cuts));
                    }
                    return ObjectFault.NONE;
                }),
                disk);
        assertThat(restored).isEqualTo(archived);
        for (CrashStorage image : List.copyOf(images)) {
            assertThat(archived).as(image.survived()).containsAllEntriesOf(left(image));
            assertThat(CrashRestore.restored(objects.client(), image))
                    .as(image.survived())
                    .isEqualTo(archived);
        }
    }

    /** Returns the documents that are visible after an interrupted restore. Each of them must be complete. */
    private static Map<String, CrashState> left(CrashStorage image) throws IOException {
        try (ListStore store = CrashHost.open(image);
                DocumentService documents = CrashHost.documents(store)) {
            return CrashHost.contents(documents);
        }
    }

    /** Creates an archive with some small documents and a large one that is restored in parts. */
    private static MemoryObjects archive(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        MemoryObjects objects = new MemoryObjects(Instant::now);
        try (CrashHost host = new CrashHost(new CrashStorage(seed), objects.client(), Instant::now, random::nextLong)) {
            for (int part = 0; part < 3; part++) {
                host.append("large", Collections.nCopies(50, part + " " + "z".repeat(10_000)));
            }
            for (int document = 0; document < 6; document++) {
                host.append("small" + document, Collections.nCopies(1 + random.nextInt(3), "value " + document));
            }
            host.trim("small1", 1);
            host.delete("small2");
            assertThat(host.pass()).isTrue();
            host.delete("small3");
            assertThat(host.pass()).isTrue();
        }
        return objects;
    }
}
