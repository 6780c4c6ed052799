package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.MemoryObjects;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Checks between steps that only pruning has removed objects and that no number in a manifest has decreased. */
final class CrashArchiveWatch {
    private final MemoryObjects objects;
    private Set<String> keys = Set.of();
    private Map<String, Manifest> manifests = Map.of();

    CrashArchiveWatch(MemoryObjects objects) {
        this.objects = objects;
    }

    /**
     * Compares the archive with its state at the previous call of this method.
     *
     * @param pruning whether objects may have been removed
     */
    void look(boolean pruning) {
        List<String> now = objects.keys("");
        if (!pruning) {
            assertThat(now).as("nothing is deleted but by pruning").containsAll(keys);
        }
        Map<String, Manifest> read = new HashMap<>();
        for (String key : objects.keys(ArchiveKeys.MANIFESTS)) {
            Manifest manifest = Manifest.decode(objects.content(key), key);
            read.put(key, manifest);
            Manifest before = manifests.get(key);
            if (before != null) {
                compare(before, manifest, pruning);
            }
        }
        keys = Set.copyOf(now);
        manifests = read;
    }

    private static void compare(Manifest before, Manifest after, boolean pruning) {
        assertThat(after.lastGeneration())
                .as("last generation of %s", after.name())
                .isGreaterThanOrEqualTo(before.lastGeneration());
        assertThat(after.epoch()).as("epoch of %s", after.name()).isGreaterThanOrEqualTo(before.epoch());
        if (!pruning) {
            assertThat(after.generations())
                    .as("generations of %s", after.name())
                    .containsAll(before.generations());
        }
    }
}
