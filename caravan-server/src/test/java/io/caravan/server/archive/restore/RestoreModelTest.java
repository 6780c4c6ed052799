package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.StoreConfig;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.TestStore.Reports;
import io.caravan.server.document.DocumentInfo;
import io.caravan.testing.Seeds;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

/** Tests interrupted restores of an archive that changes between them. The last restore must match the archive. */
class RestoreModelTest {
    private static final int DOCUMENTS = 4;
    private static final int ROUNDS = 12;
    /** The number of values of a document that does not fit into one write. */
    private static final int LONG_COUNT = 30_000;

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();
    /** The incarnations of the documents that exist. */
    private final Map<String, Long> incarnations = new HashMap<>();

    private long nextIncarnation = 1;

    @RepeatedTest(3)
    void lastOfInterruptedRestoresMatchesArchive() {
        Seeds.forEach(1, seed -> run(new Random(seed)));
    }

    private void run(Random random) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int change = random.nextInt(4); change >= 0; change--) {
                change("d" + random.nextInt(DOCUMENTS), random);
            }
            long last = archive.client.calls() + random.nextInt(60);
            archive.client.faults((number, call, key) -> number <= last
                    ? ObjectFault.NONE
                    : number == last + 1 ? ObjectFault.RESPONSE_LOST : ObjectFault.REJECTED);
            try {
                restore();
            } catch (ObjectStoreException ended) {
                assertThat(archive.client.calls()).isGreaterThan(last);
            }
            archive.client.faults(ObjectFaults.NONE);
        }
        assertThat(restore().faults).isEmpty();
        try (TestStore here = new TestStore(SmallFiles.open(directory.resolve("data")))) {
            for (int i = 0; i < DOCUMENTS; i++) {
                check(here, "d" + i);
            }
        }
    }

    private Reports restore() {
        Reports reports = new Reports();
        StoreConfig config = SmallFiles.config(directory.resolve("data")).build();
        WholeRestore.toStore(archive.open(), config, 1, 2, false, false, reports);
        return reports;
    }

    private void change(String name, Random random) {
        Long incarnation = incarnations.get(name);
        if (incarnation == null) {
            incarnations.put(name, nextIncarnation);
            // Only a new document is long: an interrupted append to a document leaves a part of the values, and then a
            // document of another incarnation cannot replace it.
            archive.put(name, nextIncarnation, random.nextInt(5), random.nextInt(4) == 0 ? LONG_COUNT : 5);
            nextIncarnation++;
        } else if (random.nextInt(4) == 0) {
            archive.delete(name);
            incarnations.remove(name);
        } else {
            Generation latest = latest(name);
            long trimmed = random.nextInt(3) == 0 ? random.nextLong(latest.count() + 1) : 0;
            archive.put(name, incarnation, latest.firstSequence() + trimmed, latest.nextSequence() + random.nextInt(4));
        }
        if (random.nextInt(5) == 0) {
            archive.prune();
        }
    }

    private Generation latest(String name) {
        return archive.open().manifest(DocumentName.of(name)).manifest().latest();
    }

    private void check(TestStore here, String name) {
        DocumentInfo info = here.find(name);
        if (!incarnations.containsKey(name)) {
            assertThat(info).as(name).isNull();
            return;
        }
        Generation latest = latest(name);
        assertThat(info.archived()).as(name).isTrue();
        assertThat(here.read(name))
                .as(name)
                .isEqualTo(TestArchive.texts(latest.incarnation(), latest.firstSequence(), latest.nextSequence()));
    }
}
