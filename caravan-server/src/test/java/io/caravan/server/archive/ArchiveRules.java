package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.MemoryObjects;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Checks the invariants of an archive, and that a server changes only what it may change. */
final class ArchiveRules {
    private final MemoryObjects objects;
    private final Set<String> verified = new HashSet<>();

    /** The state of an archive: the manifests, and the hashes of the snapshots, by object key. */
    record Seen(Map<String, Manifest> manifests, Map<String, Integer> snapshots) {}

    ArchiveRules(MemoryObjects objects) {
        this.objects = objects;
    }

    /** Returns the current state of the archive. All manifests must be valid. */
    Seen see() {
        Seen seen = new Seen(new HashMap<>(), new HashMap<>());
        for (String key : objects.keys(ArchiveKeys.MANIFESTS)) {
            seen.manifests.put(key, Manifest.decode(content(key), key));
        }
        for (String key : objects.keys(ArchiveKeys.SNAPSHOTS)) {
            seen.snapshots.put(key, Arrays.hashCode(content(key)));
        }
        return seen;
    }

    private byte[] content(String key) {
        return Objects.requireNonNull(objects.content(key), key);
    }

    /** Checks that a server has done nothing but put snapshots and extend manifests that no later owner has written. */
    void checkServer(Seen before, Seen after, long epoch) {
        assertThat(after.snapshots).containsAllEntriesOf(before.snapshots);
        assertThat(after.manifests.keySet()).containsAll(before.manifests.keySet());
        before.manifests.forEach((key, was) -> {
            Manifest is = after.manifests.get(key);
            if (!is.equals(was)) {
                assertThat(is.epoch()).isGreaterThanOrEqualTo(was.epoch());
                assertThat(was.epoch()).as("a fenced server").isLessThanOrEqualTo(epoch);
                assertThat(is.lastGeneration()).isGreaterThanOrEqualTo(was.lastGeneration());
                assertThat(is.generations())
                        .hasSizeGreaterThanOrEqualTo(was.generations().size());
                assertThat(is.generations().subList(0, was.generations().size()))
                        .isEqualTo(was.generations());
            }
        });
        checkWhole(after);
    }

    /** Checks that every generation in a manifest exists and has the recorded number of values. */
    void checkWhole(Seen now) {
        for (Manifest manifest : now.manifests.values()) {
            for (Generation generation : manifest.generations()) {
                assertThat(now.snapshots).containsKey(generation.key());
                if (verified.add(generation.key() + now.snapshots.get(generation.key()))) {
                    assertThat(Archiving.read(Archive.open(objects.client()), manifest.name(), generation))
                            .hasSize((int) generation.count());
                }
            }
        }
    }
}
