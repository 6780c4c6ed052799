package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ClientCrash;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a server and a pruner succeed when they run again after a fault in any of their object store calls. */
class ArchiveCrashTest {
    private static final UUID STORE = new UUID(1, 2);
    private static final DocumentName KEPT = DocumentName.of("kept");
    private static final Policies POLICY = name -> new PrunePolicy(1, Duration.ofDays(7), 0, Duration.ofDays(30));
    private static final long START = 1_000_000_000_000L;

    private final AtomicLong millis = new AtomicLong();
    private final InstantSource clock = () -> Instant.ofEpochMilli(millis.get());

    @ParameterizedTest
    @EnumSource(value = ObjectFault.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void archiveRecoversFromFaultAtAnyCall(ObjectFault fault) {
        boolean reached = true;
        for (long at = 1; reached; at++) {
            millis.set(START);
            MemoryObjects objects = new MemoryObjects(clock);
            MemoryObjectStore first = objects.client().faults(ObjectFaults.at(at, fault));
            try {
                List<String> problems = run(first);
                assertThat(fault == ObjectFault.NOT_THERE ? List.of() : problems)
                        .isEmpty();
            } catch (ClientCrash | ObjectStoreException ended) {
                assertThat(ended).isNotNull();
            } catch (ArchiveException withoutItsRoot) {
                assertThat(fault).as(withoutItsRoot.getMessage()).isEqualTo(ObjectFault.NOT_THERE);
            }
            reached = first.calls() >= at;
            assertIntact(objects);
            assertThat(run(objects.client())).isEmpty();
            assertThat(objects.keys("")).as("after %s at call %s", fault, at).hasSize(3);
            assertIntact(objects);
            Manifest kept = Archive.open(objects.client()).manifest(KEPT).manifest();
            assertThat(kept.generations()).extracting(Generation::nextSequence).containsExactly(6L);
        }
    }

    /** Archives all unarchived states, deletes a document, and prunes 40 days later. Returns the reported problems. */
    private List<String> run(MemoryObjectStore client) {
        Archive archive = Claims.claim(client, STORE, "host/1", clock);
        push(archive, new State("kept", 1, 0, 3, START));
        push(archive, new State("kept", 1, 2, 5, START));
        push(archive, new State("gone", 1, 0, 2, START));
        Archiving.delete(archive, new State("gone", 1, 0, 2, START));
        millis.addAndGet(Duration.ofDays(40).toMillis());
        archive = Claims.claim(client, STORE, "host/1", clock);
        push(archive, new State("kept", 1, 2, 6, millis.get()));
        PruneRecord record = new PruneRecord();
        new Pruning(archive, POLICY, millis.get(), false, record).run(1);
        assertThat(record.removals).noneMatch(removal -> removal.key().isEmpty());
        return record.problems;
    }

    /** Archives a state, as a server does, unless the archive already has at least as many values. */
    private static void push(Archive archive, State state) {
        KeptManifest kept = archive.manifest(state.name());
        Generation latest = kept == null ? null : kept.manifest().latest();
        if (latest == null || latest.nextSequence() < state.nextSequence()) {
            Archiving.archive(archive, state);
        }
    }

    private static void assertIntact(MemoryObjects objects) {
        if (objects.content(ArchiveKeys.ROOT) == null) {
            assertThat(objects.keys("")).isEmpty();
            return;
        }
        List<String> faults = new ArrayList<>();
        Verification.verify(Archive.open(objects.client()), 1, faults::add);
        assertThat(faults).isEmpty();
    }
}
