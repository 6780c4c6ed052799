package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.push.ForwardingObjectStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which objects pruning removes, which it keeps, and which it leaves to a later run. */
class PruneTest {
    private static final long DAY = Duration.ofDays(1).toMillis();
    private static final long HOUR = Duration.ofHours(1).toMillis();
    private static final long START = 1_000_000_000_000L;
    private static final DocumentName NAME = DocumentName.of("a");
    private static final Policies POLICY = name -> new PrunePolicy(1, Duration.ofDays(7), 0, Duration.ofDays(30));

    private final AtomicLong millis = new AtomicLong(START);
    private final InstantSource clock = () -> Instant.ofEpochMilli(millis.get());
    private final MemoryObjects objects = new MemoryObjects(clock);
    private PruneRecord record = new PruneRecord();
    private Archive archive = claim();

    private Archive claim() {
        return Claims.claim(objects.client(), new UUID(1, 2), "host", clock);
    }

    private PruneReport prune() {
        return prune(objects.client());
    }

    private PruneReport prune(ObjectStore client) {
        record = new PruneRecord();
        return new Pruning(Archive.open(client), POLICY, millis.get(), false, record).run(2);
    }

    private static State state(long next, long takenAtMillis) {
        return new State(NAME, 1, 0, next, takenAtMillis);
    }

    private List<Long> generations() {
        return archive.manifest(NAME).manifest().generations().stream()
                .map(Generation::number)
                .toList();
    }

    @Test
    void treatsFutureGenerationsAsYoung() {
        Archiving.archive(archive, state(1, START + 90 * DAY));
        Archiving.archive(archive, state(2, START - 8 * DAY));
        Archiving.archive(archive, state(3, START - 7 * DAY));
        Archiving.archive(archive, state(4, START - 20 * DAY));
        assertThat(prune().generations()).isOne();
        assertThat(generations()).containsExactly(1L, 3L, 4L);
        Archiving.delete(archive, state(4, START + 90 * DAY));
        millis.addAndGet(40 * DAY);
        assertThat(prune().forgotten()).isZero();
        assertThat(generations()).containsExactly(1L, 4L);
    }

    /** A month of half-hourly archive rounds must leave few generations if pruning runs every six hours. */
    @Test
    void keepsFewGenerationsForMonthOfChanges() {
        PrunePolicy policy = new PrunePolicy(4, Duration.ZERO, 14, Duration.ofDays(30));
        List<Generation> generations = new ArrayList<>();
        int most = 0;
        for (int round = 1; round <= 30 * 48; round++) {
            long now = START + round * DAY / 48;
            generations.add(new Generation(round, "key " + round, 1, 1, 0, round, now, 1, 1, ""));
            most = Math.max(most, generations.size());
            if (round % 12 == 0) {
                Manifest manifest = new Manifest(new UUID(1, 2), NAME, 1, round, generations, null);
                generations = new ArrayList<>(policy.kept(manifest, now));
            }
        }
        assertThat(most).isLessThanOrEqualTo(4 + 14 + 12);
        assertThat(generations).hasSizeBetween(14, 4 + 14);
        List<Long> days = generations.stream()
                .map(generation -> generation.takenAtMillis() / DAY)
                .distinct()
                .toList();
        assertThat(days).as("a day, each").hasSizeBetween(14, 15);
    }

    @Test
    void generationOfPastClockDoesNotEndDailyHistory() {
        PrunePolicy policy = new PrunePolicy(1, Duration.ZERO, 14, Duration.ofDays(30));
        List<Generation> generations = new ArrayList<>();
        for (long takenAt : new long[] {START - 2 * DAY, START - DAY, 0, START}) {
            long number = generations.size() + 1;
            generations.add(new Generation(number, "key " + number, 1, 1, 0, number, takenAt, 1, 1, ""));
        }
        Manifest manifest = new Manifest(new UUID(1, 2), NAME, 1, 4, generations, null);
        assertThat(policy.kept(manifest, START)).extracting(Generation::number).containsExactly(1L, 2L, 4L);
    }

    @Test
    void thinReadsOnlyManifestsWithExcessSnapshots() {
        Policies policy = name -> new PrunePolicy(2, Duration.ZERO, 0, Duration.ofDays(30));
        for (int next = 1; next <= 3; next++) {
            Archiving.archive(archive, state(next, START));
        }
        Archiving.archive(archive, new State("b", 1, 0, 1, START));
        MemoryObjectStore client = objects.client();
        PruneReport report = new Pruning(Archive.open(client), policy, START + 1, false, record).thin();
        assertThat(report.generations()).isOne();
        assertThat(generations()).containsExactly(2L, 3L);
        assertThat(client.calls(ObjectCall.GET))
                .as("the root, and the manifest of a")
                .isEqualTo(2);
    }

    private static Policies policies(String prefix, int generations, int otherwise) {
        return name -> {
            int kept = name != null && name.text().startsWith(prefix) ? generations : otherwise;
            return new PrunePolicy(kept, Duration.ZERO, 0, Duration.ofDays(30));
        };
    }

    private int count(String name) {
        return archive.manifest(DocumentName.of(name)).manifest().generations().size();
    }

    /** The policy for a prefix must apply even to a document whose long name only the manifest contains in full. */
    @Test
    void appliesPolicyByDocumentName() {
        String longName = "more/" + "n".repeat(300);
        List<String> names = List.of("a", "more/b", longName);
        for (String name : names) {
            for (int next = 1; next <= 5; next++) {
                Archiving.archive(archive, new State(name, 1, 0, next, START + next));
            }
        }
        Archive pruned = Archive.open(objects.client());
        new Pruning(pruned, policies("more/", 4, 2), START + 10, false, record).thin();
        assertThat(names).map(this::count).containsExactly(2, 4, 4);
        new Pruning(pruned, policies("more/", 1, 5), START + 10, false, record).thin();
        assertThat(names)
                .as("a document whose name its key does not contain is pruned like most documents")
                .map(this::count)
                .containsExactly(2, 1, 4);
        new Pruning(pruned, policies("more/", 3, 1), START + 10, false, record).run(2);
        assertThat(names).map(this::count).containsExactly(1, 1, 3);
    }

    @Test
    void removesSnapshotThatCanNoLongerBeCommitted() {
        KeptManifest before = Archiving.archive(archive, state(1, START));
        Generation overtaken = Archiving.put(archive, before, state(2, START));
        assertThat(prune().waiting()).isOne();
        Archiving.archive(archive, state(3, START));
        assertThat(prune().leftovers()).isOne();
        assertThat(record.removals).singleElement().satisfies(removal -> {
            assertThat(removal.key()).isEqualTo(overtaken.key());
            assertThat(removal.bytes()).isEqualTo(overtaken.objectBytes());
            assertThat(removal.document()).isEqualTo("a");
        });
    }

    @Test
    void keepsOrphanSnapshotForOneDayAndUntilNextOwner() {
        Generation alone = Archiving.put(archive, null, state(2, START));
        millis.addAndGet(2 * DAY);
        assertThat(prune().waiting()).isOne();
        archive = claim();
        assertThat(prune().leftovers()).isOne();
        assertThat(objects.content(alone.key())).isNull();
        Archiving.put(archive, null, state(2, START));
        archive = claim();
        assertThat(prune().waiting()).isOne();
    }

    /**
     * Pruning must keep the snapshots of a manifest that is listed but cannot be read. A proxy without a reachable
     * server may hide the manifest.
     */
    @Test
    void removesNothingIfListedManifestIsMissing() {
        Generation first =
                Archiving.archive(archive, state(1, START)).manifest().latest();
        millis.addAndGet(2 * DAY);
        archive = claim();
        PruneReport report = prune(objects.client()
                .faults((number, call, key) -> key.startsWith(ArchiveKeys.MANIFESTS) && call == ObjectCall.GET
                        ? ObjectFault.NOT_THERE
                        : ObjectFault.NONE));
        assertThat(report.problems()).isOne();
        assertThat(record.problems).singleElement().asString().contains("was listed but does not exist");
        assertThat(record.removals).isEmpty();
        assertThat(objects.content(first.key())).isNotNull();
    }

    @Test
    void keepsManifestWhileSnapshotMayReplaceIt() {
        Archiving.archive(archive, state(1, START));
        Archiving.delete(archive, state(1, START));
        millis.addAndGet(40 * DAY);
        State again = new State(NAME, 2, 0, 1, millis.get());
        Generation guessed = Archiving.put(archive, null, again);
        assertThat(prune().forgotten()).isZero();
        assertThat(objects.content(guessed.key())).isNotNull();
        assertThatThrownBy(() -> archive.commit(null, NAME, guessed))
                .isInstanceOfSatisfying(
                        ObjectStoreException.class,
                        conflict -> assertThat(conflict.kind()).isEqualTo(ObjectStoreException.Kind.CONFLICT));
        millis.addAndGet(2 * DAY);
        archive = claim();
        PruneReport report = prune();
        assertThat(report.forgotten()).isOne();
        assertThat(report.leftovers()).isOne();
        assertThat(objects.keys("")).containsExactly(ArchiveKeys.ROOT);
    }

    @Test
    void reportsManifestThatCannotBeDeletedOnCondition() {
        Archiving.archive(archive, state(1, START));
        Archiving.delete(archive, state(1, START));
        millis.addAndGet(40 * DAY);
        PruneReport report = prune(new ForwardingObjectStore(objects.client()) {
            @Override
            public boolean deleteIf(String key, String tag) {
                return false;
            }
        });
        assertThat(report.forgotten()).isZero();
        assertThat(report.undeletable()).isOne();
        assertThat(objects.keys("")).contains(ArchiveKeys.MANIFESTS + "a");
        assertThat(prune().undeletable()).isZero();
        assertThat(objects.keys("")).containsExactly(ArchiveKeys.ROOT);
    }

    @Test
    void keepsSnapshotNextToTombstoneWhileCommittable() {
        Archiving.archive(archive, state(1, START));
        Archiving.delete(archive, state(1, START));
        millis.addAndGet(30 * DAY - HOUR);
        Generation guessed = Archiving.put(archive, null, new State(NAME, 2, 0, 1, millis.get()));
        assertThat(prune().waiting()).isOne();
        millis.addAndGet(2 * HOUR);
        assertThat(prune().forgotten()).isZero();
        assertThat(objects.content(guessed.key())).isNotNull();
    }

    @Test
    void prunesByNewStateAfterConcurrentArchiving() {
        Archiving.archive(archive, state(1, START - 20 * DAY));
        Archiving.archive(archive, state(2, START - 10 * DAY));
        MemoryObjectStore overtaken = objects.client();
        overtaken.faults((number, call, key) -> {
            if (call == ObjectCall.PUT_IF && overtaken.calls(ObjectCall.PUT_IF) == 1) {
                Archiving.archive(archive, state(3, START));
            }
            return ObjectFault.NONE;
        });
        assertThat(prune(overtaken).generations()).isEqualTo(2);
        assertThat(generations()).containsExactly(3L);
        assertThat(record.problems).isEmpty();
    }

    @Test
    void skipsAndReportsConstantlyChangingDocument() {
        Archiving.archive(archive, state(1, START - 20 * DAY));
        Archiving.archive(archive, state(2, START));
        AtomicLong next = new AtomicLong(3);
        MemoryObjectStore overtaken = objects.client();
        overtaken.faults((number, call, key) -> {
            if (call == ObjectCall.PUT_IF) {
                Archiving.archive(archive, state(next.getAndIncrement(), START));
            }
            return ObjectFault.NONE;
        });
        assertThat(prune(overtaken).problems()).isOne();
        assertThat(record.problems).singleElement().asString().contains("manifests/a");
        assertThat(generations()).startsWith(1L, 2L);
    }

    @Test
    void reportsDamagedManifestAndKeepsSnapshots() {
        Archiving.archive(archive, state(1, START - 20 * DAY));
        objects.put(ArchiveKeys.manifest(NAME), new byte[3]);
        archive = claim();
        millis.addAndGet(60 * DAY);
        assertThat(prune().problems()).isOne();
        assertThat(record.problems).singleElement().asString().contains("manifests/a");
        assertThat(objects.keys(ArchiveKeys.SNAPSHOTS)).hasSize(1);
    }

    /** A former owner may still commit a snapshot that it has put, so the snapshot must look fresh to pruning. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keepsFreshSnapshotOfFormerOwner(boolean besideOtherObjects) {
        Generation fresh = Archiving.put(archive, null, state(2, START));
        if (besideOtherObjects) {
            millis.addAndGet(3 * DAY);
            objects.put("notes.txt", new byte[3]);
            millis.addAndGet(-3 * DAY);
        }
        archive = claim();
        assertThat(prune().waiting()).isOne();
        assertThat(objects.content(fresh.key())).isNotNull();
    }

    @Test
    void ignoresObjectsThatAreNotSnapshots() {
        objects.put("snapshots/a/readme", new byte[3]);
        objects.put("snapshots/readme", new byte[3]);
        millis.addAndGet(60 * DAY);
        archive = claim();
        prune();
        assertThat(objects.keys(ArchiveKeys.SNAPSHOTS)).hasSize(2);
    }

    @Test
    void rejectsInvalidPolicies() {
        Duration week = Duration.ofDays(7);
        assertThatThrownBy(() -> new PrunePolicy(0, week, 0, week)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PrunePolicy(1, week.negated(), 0, week))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PrunePolicy(1, week, 0, Duration.ofHours(23)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
