package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests a server's pruner. Its rounds follow each other without pauses, and the first round fails with an error. */
class PrunerTest {
    private static final DocumentName NAME = DocumentName.of("a");
    private static final Duration RETAIN = Duration.ofDays(30);

    private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private volatile long nanos;
    private final InstantSource clock = () -> now;
    private final Archive archive = Claims.claim(new MemoryObjects(clock).client(), new UUID(1, 2), "host", clock);
    private final AtomicInteger rounds = new AtomicInteger();

    @AutoClose
    private final Pruner pruner = new Pruner(
            this::startRound,
            name -> new PrunePolicy(1, Duration.ZERO, 0, RETAIN),
            Duration.ofMillis(1),
            clock,
            () -> nanos,
            new ArchiveCounters(clock));

    private Archive startRound() {
        if (rounds.incrementAndGet() == 1) {
            throw new NoClassDefFoundError("of a codec");
        }
        return archive;
    }

    private void awaitRound() {
        // Waits for three rounds: one may be in progress now, and the next one may fail.
        int before = rounds.get();
        Eventually.await("a complete round", () -> rounds.get() >= before + 3);
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
    void keepsDeletedDocumentWhenClockIsSetAhead() {
        deleteDocument();
        pruner.start();
        now = now.plus(RETAIN.multipliedBy(2));
        pass(Duration.ofDays(2));
        awaitRound();
        assertThat(archive.manifest(NAME)).isNotNull();
        pass(RETAIN);
        Eventually.await("the document is removed", () -> archive.manifest(NAME) == null);
    }

    @Test
    void removesDeletedDocumentAfterClockIsSetBack() {
        pruner.start();
        awaitRound();
        now = now.minus(RETAIN.multipliedBy(2));
        deleteDocument();
        pass(RETAIN.plusDays(1));
        Eventually.await("the document is removed", () -> archive.manifest(NAME) == null);
    }
}
