package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.archive.push.JobQueue.Job;
import io.caravan.server.document.ArchiveMark;
import io.caravan.testing.Eventually;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class JobQueueTest {
    private long nowNanos;
    private final BackOff backOff = new BackOff(() -> nowNanos, () -> 0);
    private final JobQueue queue = new JobQueue(2, backOff, () -> nowNanos, () -> new IllegalStateException("closed"));

    private static DocumentName name(String name) {
        return DocumentName.of(name);
    }

    private boolean offer(String name) {
        return queue.offer(name(name), job -> {});
    }

    private CompletableFuture<Archived> request(String name) {
        CompletableFuture<Archived> request = queue.request(name(name));
        assertThat(request).isNotDone();
        return request;
    }

    private void assertRefused(CompletableFuture<Archived> request, String why) {
        assertThat(request).isCompletedExceptionally();
        assertThatThrownBy(request::join).cause().hasMessageContaining(why);
    }

    private String take() throws InterruptedException {
        return queue.take().name.toString();
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
    void onlySoManyNamesAreRequested() {
        queue.open();
        CompletableFuture<Archived> first = request("a");
        request("b");
        assertRefused(queue.request(name("c")), "takes no more requests");
        assertThat(first).isNotDone();
    }

    /** A running job may have started before the change that the request is about. */
    @Test
    void aRequestForANameInHandIsAnsweredByARunThatBeginsAfterIt() throws Exception {
        queue.open();
        backOff.failed(0);
        request("a");
        Job first = queue.take();
        CompletableFuture<Archived> second = request("a");
        request("b");
        Archived archived = new Archived(ArchiveMark.first(1), true);
        first.answer(archived);
        assertThat(second).isNotDone();
        assertThat(take()).isEqualTo("b");
        queue.done(first);
        Job next = queue.take();
        assertThat(next).isNotSameAs(first);
        next.answer(archived);
        assertThat(second).isCompletedWithValue(archived);
    }

    /** The job is then in several queues and must not be handed out twice. */
    @Test
    void whatWasRequestedWhileItWaitedIsGivenOutOnce() throws Exception {
        queue.open();
        offer("a");
        queue.putBack(queue.take(), 100);
        request("a");
        Job job = queue.take();
        queue.putBack(job, 0);
        assertThat(queue.take()).isSameAs(job);
        nowNanos += 100;
        offer("b");
        assertThat(take()).isEqualTo("b");
        queue.done(job);
        offer("c");
        assertThat(take()).isEqualTo("c");
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
        queue.putBack(first, 0);
        assertThat(take()).isEqualTo("b");
        assertThat(queue.take()).isSameAs(first);
    }

    @Test
    void whatFailedTakesOverWhatCameInMeanwhile() throws Exception {
        queue.open();
        offer("a");
        Job first = queue.take();
        CompletableFuture<Archived> meanwhile = request("a");
        queue.putBack(first, 0);
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
        queue.putBack(first, 100);
        queue.putBack(second, 100);
        offer("c");
        assertThat(take()).isEqualTo("c");
        request("b");
        assertThat(take()).isEqualTo("b");
        assertThat(queue.awaitIdle(1)).isFalse();
        nowNanos += 100;
        assertThat(queue.take()).isSameAs(first);
    }

    /** The job becomes due between the check and the wait for it. */
    @Test
    @Timeout(20)
    void whatIsPutOffIsGivenOutThoughTimeGoesOn() throws Exception {
        JobQueue ticking = new JobQueue(2, backOff, () -> nowNanos++, IllegalStateException::new);
        ticking.open();
        for (int nanos = 1; nanos <= 4; nanos++) {
            ticking.offer(name("a"), next -> {});
            Job job = ticking.take();
            ticking.putBack(job, nanos);
            assertThat(ticking.take()).isSameAs(job);
            ticking.done(job);
        }
    }

    @Test
    void nobodyWaitsForAnAnswerWhileNothingIsGivenOut() throws Exception {
        queue.open();
        CompletableFuture<Archived> waiting = request("a");
        offer("b");
        Job waited = queue.take();
        Job job = queue.take();
        queue.putBack(waited, 0);
        CompletableFuture<Archived> behind = request("b");
        queue.close(false);
        assertRefused(waiting, "closed");
        assertRefused(behind, "closed");
        queue.done(job);
        assertRefused(queue.request(name("c")), "closed");
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
        queue.close(true);
        queue.putBack(job, 0);
        assertRefused(behind, "closed");
        assertThat(queue.awaitIdle(1)).isTrue();
        assertRefused(queue.request(name("a")), "closed");
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
        queue.close(true);
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
