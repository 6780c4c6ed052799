package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.ArchiveWalk.NamedObjects;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStore.Listed;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A single-threaded model of a pruner and two servers that use the same store identity. The servers may take steps
 * between any two calls of the pruner. Servers archive a document in three steps, between which other steps may run.
 *
 * <p>{@link ArchiveRules} checks each step.
 */
final class ArchiveModel {
    private static final List<String> NAMES = List.of("a", "a-b", "long/name");
    private static final Policies POLICY = name -> new PrunePolicy(2, Duration.ofHours(6), 0, PrunePolicy.LEAST_RETAIN);
    private static final int FAULT_ONE_IN = 25;

    private final Random random;
    private final AtomicLong millis = new AtomicLong(1_000_000_000_000L);
    private final InstantSource clock = () -> Instant.ofEpochMilli(millis.get());
    private final MemoryObjects objects = new MemoryObjects(clock);
    private final ArchiveRules rules = new ArchiveRules(objects);
    private final List<ModelServer> servers;
    private final MemoryObjectStore pruner = objects.client();
    private long removed;

    ArchiveModel(long seed) {
        random = new Random(seed);
        ObjectFaults faults = ObjectFaults.sometimes(random, FAULT_ONE_IN);
        servers = List.of(
                new ModelServer(objects.client().faults(faults), random, clock),
                new ModelServer(objects.client().faults(faults), random, clock));
        pruner.faults(this::beforeCallOfPruner);
    }

    void step() {
        if (random.nextInt(5) == 0 && objects.content(ArchiveKeys.ROOT) != null) {
            prune(NAMES.get(random.nextInt(NAMES.size())));
        } else {
            serverStep();
        }
    }

    private void serverStep() {
        // Sometimes advances the clock so far that deletions expire.
        int mostMinutes = random.nextInt(15) == 0 ? 3_000 : 100;
        millis.addAndGet(Duration.ofMinutes(random.nextInt(mostMinutes)).toMillis());
        ModelServer server = servers.get(random.nextInt(servers.size()));
        ArchiveRules.Seen before = rules.see();
        long epoch = server.epoch();
        server.step(NAMES.get(random.nextInt(NAMES.size())));
        rules.checkServer(before, rules.see(), epoch);
    }

    private ObjectFault beforeCallOfPruner(long number, ObjectCall call, String key) {
        rules.checkWhole(rules.see());
        while (random.nextInt(3) == 0) {
            serverStep();
        }
        return ObjectFault.NONE;
    }

    private void prune(String name) {
        Archive archive = Archive.open(pruner);
        Pruning pruning = new Pruning(archive, POLICY, millis.get(), false, new PruneRecord());
        long settledMillis = millis.get() - Duration.ofDays(1).toMillis();
        String form = ArchiveKeys.encode(DocumentName.of(name));
        List<Listed> snapshots = pruner.list(ArchiveKeys.SNAPSHOTS + form + "/").toList();
        NamedObjects listed = new NamedObjects(form, false, snapshots);
        removed += pruning.new DocumentPruner(listed, settledMillis)
                .prune()
                .removals
                .size();
        rules.checkWhole(rules.see());
    }

    /** Checks that at least one commit, one fencing of a server, and one removal by the pruner have occurred. */
    void assertSomethingHappened() {
        assertThat(servers.stream().mapToLong(ModelServer::commits).sum()).isPositive();
        assertThat(servers.stream().mapToLong(ModelServer::fenced).sum()).isPositive();
        assertThat(removed).isPositive();
    }
}
