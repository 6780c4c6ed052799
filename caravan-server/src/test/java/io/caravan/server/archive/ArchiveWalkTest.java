package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.FileObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a walk reports each name once with all its objects, although manifests and snapshots sort differently. */
class ArchiveWalkTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("rounds")
    void reportsEachNameOnceWithItsObjects() {
        Seeds.forEach(Rounds.of(5, 50), seed -> {
            Random random = new Random(seed);
            MemoryObjects memory = new MemoryObjects(InstantSource.system());
            check(memory.client(), random, 60);
            try (ObjectStore files = FileObjectStore.open(directory.resolve("seed" + seed))) {
                check(files, random, 12);
            }
        });
    }

    /** Compares a walk over random objects with a model. Some names extend others by a byte below or above '/'. */
    private static void check(ObjectStore objects, Random random, int names) {
        Map<String, NamedObjects> expected = new TreeMap<>();
        Map<String, Integer> snapshots = new HashMap<>();
        for (int i = 0; i < names; i++) {
            String form = form(random);
            boolean manifest = random.nextBoolean() && !expected.containsKey(form);
            int count = expected.containsKey(form) ? 0 : random.nextInt(3);
            if (manifest || count > 0) {
                expected.put(form, new NamedObjects(form, manifest, List.of()));
                snapshots.put(form, count);
            }
            if (manifest) {
                objects.put(ArchiveKeys.MANIFESTS + form, out -> out.write(1));
            }
            for (int snapshot = 0; snapshot < count; snapshot++) {
                objects.put(ArchiveKeys.SNAPSHOTS + form + "/" + snapshot, out -> out.write(1));
            }
        }
        Map<String, NamedObjects> reported = new TreeMap<>();
        ArchiveWalk.forEach(
                objects, one -> assertThat(reported.put(one.form(), one)).isNull());
        assertThat(reported.keySet()).isEqualTo(expected.keySet());
        reported.forEach((form, one) -> {
            assertThat(one.manifest()).as(form).isEqualTo(expected.get(form).manifest());
            assertThat(one.snapshots()).as(form).hasSize(snapshots.get(form));
            assertThat(one.snapshots()).allMatch(listed -> listed.key().startsWith(ArchiveKeys.SNAPSHOTS + form + "/"));
        });
    }

    private static String form(Random random) {
        String alphabet = "a!-0Z_";
        StringBuilder form = new StringBuilder("a");
        for (int i = random.nextInt(5); i > 0; i--) {
            form.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return form.toString();
    }

    @Test
    void failedListingFailsWalk() {
        MemoryObjects memory = new MemoryObjects(InstantSource.system());
        memory.put("manifests/a", new byte[1]);
        ObjectStore rejecting = memory.client().faults(ObjectFaults.at(ObjectCall.LIST, 1, ObjectFault.REJECTED));
        assertThatThrownBy(() -> ArchiveWalk.forEach(
                        rejecting, one -> assertThat(one.form()).isEqualTo("a")))
                .isInstanceOf(ObjectStoreException.class);
    }
}
