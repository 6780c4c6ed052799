package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests of leadership confirmations. Each test completes the empty entries for which the confirmations wait. */
class LeadershipConfirmationsTest {
    private static final long LONG_MILLIS = 600_000;

    private final List<CompletableFuture<Void>> entries = new ArrayList<>();

    private LeadershipConfirmations confirmations(long timeoutMillis) {
        return new LeadershipConfirmations("a", this::propose, timeoutMillis);
    }

    private CompletableFuture<Void> propose() {
        entries.add(new CompletableFuture<>());
        return entries.get(entries.size() - 1);
    }

    @Test
    void confirmationWaitsForEntryProposedLater() {
        LeadershipConfirmations confirmations = confirmations(LONG_MILLIS);
        CompletableFuture<Void> first = confirmations.confirm();
        CompletableFuture<Void> second = confirmations.confirm();
        CompletableFuture<Void> third = confirmations.confirm();
        assertThat(entries).hasSize(1);
        entries.get(0).complete(null);
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        assertThat(entries)
                .as("one entry for both requests that arrived in the meantime")
                .hasSize(2);
        entries.get(1).complete(null);
        assertThat(second).isCompleted();
        assertThat(third).isCompleted();
        assertThat(entries).as("none without a request").hasSize(2);
    }

    @Test
    void uncommittedEntryConfirmsNothing() {
        LeadershipConfirmations confirmations = confirmations(LONG_MILLIS);
        CompletableFuture<Void> pending = confirmations.confirm();
        entries.get(0).completeExceptionally(new IOException("it leads no longer"));
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(pending::get)
                .withCauseInstanceOf(IOException.class)
                .withMessageContaining("node a cannot confirm that it leads its group: it leads no longer");
        assertThat(confirmations.confirm()).isNotDone();
        assertThat(entries).hasSize(2);
    }

    @Test
    void confirmationTimesOutAndCanBeRetried() {
        LeadershipConfirmations confirmations = confirmations(1);
        CompletableFuture<Void> pending = confirmations.confirm();
        CompletableFuture<Void> following = confirmations.confirm();
        for (CompletableFuture<Void> each : List.of(pending, following)) {
            assertThat(each)
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(IOException.class)
                    .withMessageContaining("no majority has responded within 1 ms");
        }
        // The entry is still in flight. A new request waits for a later entry, and does not receive the earlier
        // failure.
        CompletableFuture<Void> again = confirmations.confirm();
        entries.get(0).complete(null);
        assertThat(entries).hasSize(2);
        assertThat(again)
                .satisfiesAnyOf(
                        waiting -> assertThat(waiting).isNotDone(),
                        late -> assertThat(late).isCompletedExceptionally());
    }

    @Test
    void completingOneFutureDoesNotCompleteOthers() {
        LeadershipConfirmations confirmations = confirmations(LONG_MILLIS);
        confirmations.confirm();
        CompletableFuture<Void> second = confirmations.confirm();
        CompletableFuture<Void> third = confirmations.confirm();
        second.complete(null);
        assertThat(third).isNotDone();
    }
}
