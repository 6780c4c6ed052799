package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.testing.Eventually;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class JobQueueTest {
    private long nowNanos;
    private final BackOff backOff = new BackOff(() -> nowNanos, () -> 0);
    private final JobQueue queue = new JobQueue(2, backOff, () -> nowNanos);

    private static DocumentName name(String name) {
        return DocumentName.of(name);
    }

    private boolean offer(String name) {
        return queue.offer(name(name), job -> {});
    }

    private CompletableFuture<Archived> request(String name) {
        CompletableFuture<Archived> request = new CompletableFuture<>();
        assertThat(queue.request(name(name), job -> job.add(request))).isTrue();
        return request;
    }

    private String take() throws InterruptedException {
        return queue.take().name().toString();
    }

    @Test
    void jobsComeInTurnAndRequestsFirst() throws Exception {
        queue.open();
        offer("a");
        offer("b");
        request("c");
        request("b");
        assertThat(take()).isEqualTo("c");
        assertThat(take()).isEqualTo("b");
        assertThat(take()).isEqualTo("a");
    }

    @Test
    void aFullQueueTakesNoMoreNames() throws Exception {
        queue.open();
        assertThat(offer("a")).isTrue();
        assertThat(offer("b")).isTrue();
        assertThat(offer("c")).isFalse();
        assertThat(offer("a")).isTrue();
        assertThat(queue.roomy()).isFalse();
        take();
        assertThat(queue.roomy()).isTrue();
        assertThat(offer("c")).isTrue();
    }

    @Test
    void aNameInHandIsGivenOutAgainOnlyWhenItIsDone() throws Exception {
        queue.open();
        offer("a");
        Job first = queue.take();
        offer("a");
        offer("b");
        assertThat(take()).isEqualTo("b");
        queue.done(first);
        assertThat(take()).isEqualTo("a");
    }

    @Test
    void whatFailedIsTriedAgainAfterThoseThatWait() throws Exception {
        queue.open();
        offer("a");
        offer("b");
        Job first = queue.take();
        queue.putBack(first);
        assertThat(take()).isEqualTo("b");
        assertThat(queue.take()).isSameAs(first);
    }

    @Test
    void whatFailedTakesOverWhatCameInMeanwhile() throws Exception {
        queue.open();
        offer("a");
        Job first = queue.take();
        CompletableFuture<Archived> meanwhile = request("a");
        queue.putBack(first);
        Job again = queue.take();
        assertThat(again).isSameAs(first);
        again.fail(new IllegalStateException("no"));
        assertThat(meanwhile).isCompletedExceptionally();
    }

    @Test
    void whatIsPutOffIsGivenOutInItsTimeOrWhenItIsAskedFor() throws Exception {
        queue.open();
        offer("a");
        offer("b");
        Job first = queue.take();
        Job second = queue.take();
        queue.putOff(first, 100);
        queue.putOff(second, 100);
        offer("c");
        assertThat(take()).isEqualTo("c");
        request("b");
        assertThat(take()).isEqualTo("b");
        assertThat(queue.awaitIdle(1)).isFalse();
        nowNanos += 100;
        assertThat(queue.take()).isSameAs(first);
    }

    @Test
    void nobodyWaitsForAnAnswerWhileNothingIsGivenOut() throws Exception {
        queue.open();
        CompletableFuture<Archived> waiting = request("a");
        offer("b");
        Job waited = queue.take();
        Job job = queue.take();
        queue.putBack(waited);
        CompletableFuture<Archived> behind = request("b");
        queue.pause(new IllegalStateException("lost"));
        assertThat(waiting).isCompletedExceptionally();
        assertThat(behind).isNotDone();
        queue.done(job);
        assertThat(behind).isCompletedExceptionally();
        assertThat(queue.request(name("c"), next -> {})).isFalse();
        queue.open();
        assertThat(take()).isEqualTo("a");
        assertThat(take()).isEqualTo("b");
    }

    @Test
    void whatComesBackAfterTheEndIsAnsweredAndDropped() throws Exception {
        queue.open();
        offer("a");
        Job job = queue.take();
        CompletableFuture<Archived> behind = request("a");
        queue.end(new IllegalStateException("over"));
        queue.putBack(job);
        assertThat(behind).isCompletedExceptionally();
        assertThat(queue.awaitIdle(1)).isTrue();
        assertThat(queue.request(name("a"), next -> {})).isFalse();
    }

    @Test
    void aPauseHoldsAllButRequests() throws Exception {
        queue.open();
        offer("a");
        backOff.failed(0);
        request("b");
        assertThat(take()).isEqualTo("b");
        nowNanos += TimeUnit.SECONDS.toNanos(1);
        assertThat(take()).isEqualTo("a");
    }

    @Test
    void nothingIsGivenOutBeforeItIsOpenNorAfterItHasEnded() throws Exception {
        CompletableFuture<Job> taken = new CompletableFuture<>();
        Thread worker = new Thread(() -> {
            try {
                taken.complete(queue.take());
            } catch (InterruptedException stopped) {
                taken.completeExceptionally(stopped);
            }
        });
        assertThat(offer("a")).isTrue();
        worker.start();
        Eventually.awaitWaitingOrDone(worker);
        assertThat(taken).isNotDone();
        queue.end(new IllegalStateException("over"));
        assertThat(taken.get(20, TimeUnit.SECONDS)).isNull();
        assertThat(offer("b")).isFalse();
    }

    @Test
    void itIsIdleWhenNothingWaitsAndNothingIsInHand() throws Exception {
        queue.open();
        assertThat(queue.awaitIdle(1)).isTrue();
        offer("a");
        assertThat(queue.awaitIdle(1)).isFalse();
        Job job = queue.take();
        assertThat(queue.awaitIdle(1)).isFalse();
        queue.done(job);
        assertThat(queue.awaitIdle(1)).isTrue();
    }

    @Test
    void waitingForRoomEndsWhenSomebodyIsWanted() throws Exception {
        queue.wake();
        queue.awaitRoom(TimeUnit.HOURS.toNanos(1), false);
        queue.awaitRoom(1, false);
        queue.awaitRoom(TimeUnit.HOURS.toNanos(1), true);
        assertThat(queue.roomy()).isTrue();
    }
}
