package io.caravan.bench.life;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.life.DocumentLife.Activity;
import io.caravan.bench.peers.PeerReader;
import io.caravan.bench.peers.PeerStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The life keeps to its bounds, is the same for a seed, and knows what is live. */
class DocumentLifeTest {
    private static final int CHANGES = 400_000;

    @ParameterizedTest
    @EnumSource(Activity.class)
    void isTheSameForASeed(Activity activity) throws IOException {
        Lengths one = lived(1, activity, CHANGES / 100);
        assertThat(lived(1, activity, CHANGES / 100).events).isEqualTo(one.events);
        assertThat(lived(2, activity, CHANGES / 100).events).isNotEqualTo(one.events);
    }

    @ParameterizedTest
    @EnumSource(Activity.class)
    void keepsToItsBoundsAndKnowsWhatIsLive(Activity activity) throws IOException {
        Lengths store = new Lengths();
        DocumentLife life = new DocumentLife(1, activity);
        for (int i = 0; i < CHANGES; i++) {
            life.change(store);
        }
        assertThat(life.appends()).isEqualTo(store.events.size());
        assertThat(life.appendedBytes()).isEqualTo(store.appendedBytes);
        assertThat(life.liveBytes()).isEqualTo(store.liveBytes());
        assertThat(store.changeLengths).hasSize(DocumentLife.MAX_CHANGE_BYTES).allMatch(length -> length > 0);
        assertThat(store.snapshotLengths)
                .contains(DocumentLife.MIN_SNAPSHOT_BYTES, DocumentLife.MAX_SNAPSHOT_BYTES)
                .allMatch(length ->
                        length >= DocumentLife.MIN_SNAPSHOT_BYTES && length <= DocumentLife.MAX_SNAPSHOT_BYTES);
        assertThat(store.changesBetween)
                .allMatch(changes -> changes >= DocumentLife.MIN_CHANGES && changes <= DocumentLife.MAX_CHANGES);
    }

    @ParameterizedTest
    @EnumSource(Activity.class)
    void snapshotsComeEvenlyFromTheBeginning(Activity activity) throws IOException {
        int early = lived(1, activity, CHANGES / 2).snapshots;
        int all = lived(1, activity, CHANGES).snapshots;
        assertThat(all - early).isCloseTo(early, Percentage.withPercentage(20));
        assertThat(all).isCloseTo(CHANGES / 550, Percentage.withPercentage(10));
    }

    @Test
    void aSessionEndsWithASnapshotAndAnotherDocumentTakesItsPlace() throws IOException {
        Lengths store = lived(1, Activity.SESSIONS, CHANGES);
        assertThat(store.lists)
                .hasSizeBetween(DocumentLife.SESSION_DOCUMENTS + 50, DocumentLife.SESSION_DOCUMENTS + 200);
        assertThat(store.lists.values().stream().filter(list -> list.size() > 1))
                .hasSizeLessThanOrEqualTo(DocumentLife.SESSION_DOCUMENTS);
        assertThat(lived(1, Activity.SPREAD, CHANGES).lists).hasSize(DocumentLife.DOCUMENTS);
    }

    @Test
    void aStoreThatCannotTrimKeepsEverything() throws IOException {
        Lengths kept = new Lengths();
        PeerStore untrimmed = new Untrimmed(kept);
        DocumentLife life = new DocumentLife(1, Activity.SESSIONS);
        for (int i = 0; i < CHANGES; i++) {
            life.change(untrimmed);
        }
        assertThat(kept.snapshots).isZero();
        assertThat(kept.liveBytes()).isEqualTo(life.appendedBytes()).isGreaterThan(life.liveBytes());
    }

    private static Lengths lived(long seed, Activity activity, int changes) throws IOException {
        Lengths store = new Lengths();
        DocumentLife life = new DocumentLife(seed, activity);
        for (int i = 0; i < changes; i++) {
            life.change(store);
        }
        return store;
    }

    /** Keeps the lengths of the values. */
    private static final class Lengths implements PeerStore.Trimming {
        private final Map<Long, List<Integer>> lists = new HashMap<>();
        private final Map<Long, Long> sequences = new HashMap<>();
        private final Map<Long, Integer> changesSinceSnapshot = new HashMap<>();
        private final List<String> events = new ArrayList<>();
        private final Set<Integer> changeLengths = new HashSet<>();
        private final Set<Integer> snapshotLengths = new HashSet<>();
        private final Set<Integer> changesBetween = new HashSet<>();
        private long appendedBytes;
        private int snapshots;

        long liveBytes() {
            return lists.values().stream()
                    .flatMap(List::stream)
                    .mapToLong(Integer::longValue)
                    .sum();
        }

        @Override
        public void append(long id, byte[] value) {
            add(id, value);
            changeLengths.add(value.length);
            changesSinceSnapshot.computeIfPresent(id, (same, changes) -> changes + 1);
        }

        @Override
        public void appendSnapshot(long id, byte[] snapshot, long sequence) {
            assertThat(sequence).isEqualTo(sequences.getOrDefault(id, 0L));
            lists.remove(id);
            add(id, snapshot);
            snapshots++;
            snapshotLengths.add(snapshot.length);
            Integer changes = changesSinceSnapshot.put(id, 0);
            if (changes != null) {
                changesBetween.add(changes);
            }
        }

        private void add(long id, byte[] value) {
            events.add(id + " " + value.length);
            lists.computeIfAbsent(id, first -> new ArrayList<>()).add(value.length);
            sequences.merge(id, 1L, Long::sum);
            appendedBytes += value.length;
        }

        @Override
        public void commit() {}

        @Override
        public PeerReader reader() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private record Untrimmed(Lengths kept) implements PeerStore {
        @Override
        public void append(long id, byte[] value) {
            kept.append(id, value);
        }

        @Override
        public void commit() {}

        @Override
        public PeerReader reader() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
