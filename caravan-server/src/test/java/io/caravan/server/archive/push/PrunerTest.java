package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.MemoryObjects;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests a server's pruner. Its rounds follow each other without pauses. */
class PrunerTest {
    private static final DocumentName NAME = DocumentName.of("a");
    private static final Duration RETAIN = Duration.ofDays(30);

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private long nanos;
    private final InstantSource clock = () -> now;
    private final Archive archive = Claims.claim(new MemoryObjects(clock).client(), new UUID(1, 2), "host", clock);
    private final Pruner pruner = new Pruner(
            () -> archive,
            name -> new PrunePolicy(1, Duration.ZERO, 0, RETAIN),
            Duration.ofMillis(1),
            clock,
            () -> nanos,
            new ArchiveCounters(clock));

    private void runRound() throws InterruptedException {
        pruner.step(new CountDownLatch(1));
    }

    private void pass(Duration time) {
        now = now.plus(time);
        nanos += time.toNanos();
    }

    private void deleteDocument() {
        State state = new State(NAME, 1, 0, 1, now.toEpochMilli());
        Archiving.archive(archive, state);
        Archiving.delete(archive, state);
    }

    @Test
    void keepsDeletedDocumentWhenClockIsSetAhead() throws Exception {
        deleteDocument();
        now = now.plus(RETAIN.multipliedBy(2));
        pass(Duration.ofDays(2));
        runRound();
        assertThat(archive.manifest(NAME)).isNotNull();
        pass(RETAIN);
        runRound();
        assertThat(archive.manifest(NAME)).isNull();
    }

    @Test
    void removesDeletedDocumentAfterClockIsSetBack() throws Exception {
        runRound();
        now = now.minus(RETAIN.multipliedBy(2));
        deleteDocument();
        pass(RETAIN.plusDays(1));
        runRound();
        assertThat(archive.manifest(NAME)).isNull();
    }
}
