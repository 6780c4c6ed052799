package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSchedule.Change;
import io.caravan.server.archive.push.ArchiveSchedule.Job;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DeletionRecord;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the order and the states of the archiving jobs in a schedule. */
class ArchiveScheduleTest {
    private static final int CAPACITY = 2;

    private long nowNanos;
    private final BackOff backOff = new BackOff(() -> nowNanos, () -> 0, Duration.ofSeconds(30));
    private final ArchiveSchedule schedule = schedule(CAPACITY);

    private ArchiveSchedule schedule(int capacity) {
        return new ArchiveSchedule(capacity, backOff, () -> nowNanos, 0, () -> new IllegalStateException("closed"));
    }

    private static DocumentName name(String name) {
        return DocumentName.of(name);
    }

    private static List<Change> changes(String... names) {
        return Stream.of(names).map(name -> new Change(name(name), null, 0, 0)).toList();
    }

    /** Reports to the schedule that a scan of a slot has found changes to these documents. */
    private void find(int slot, String... names) {
        schedule.scanned(slot, 1, 2, changes(names), null);
    }

    private void find(String name) {
        find(0, name);
    }

    /** Returns a slot that must be scanned again and for which there is space, or null. */
    private Integer rescan() throws InterruptedException {
        return schedule.awaitRescan(0);
    }

    private CompletableFuture<Archived> request(String name) {
        CompletableFuture<Archived> request = schedule.request(name(name));
        assertThat(request).isNotDone();
        return request;
    }

    private void assertRejected(CompletableFuture<Archived> request, String why) {
        assertThat(request).isCompletedExceptionally();
        assertThatThrownBy(request::join).cause().hasMessageContaining(why);
    }

    private String take() throws InterruptedException {
        return schedule.take().name.toString();
    }

    @Test
    void rescansSlotThatBecomesUnverifiedDuringScan() throws Exception {
        schedule.open();
        boolean verifies = schedule.mustVerify(7);
        schedule.distrust();
        schedule.scanned(7, 1, 2, List.of(), verifies ? List.of() : null);
        Set<Integer> rescanned = new HashSet<>();
        for (Integer slot = rescan(); slot != null && rescanned.add(slot); slot = rescan()) {
            schedule.scanned(slot, 1, 2, List.of(), schedule.mustVerify(slot) ? List.of() : null);
        }
        assertThat(rescanned).contains(7);
        assertThat(schedule.verified()).isTrue();
    }

    @Test
    void lastScanEndsWaitForIdleSchedule() throws Exception {
        schedule.open();
        schedule.distrust();
        FutureTask<Boolean> idle = new FutureTask<>(() -> schedule.awaitIdle(TimeUnit.HOURS.toNanos(1)));
        Thread waiting = new Thread(idle, "waiting");
        waiting.start();
        Eventually.await("the thread waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        for (int slot = 0; slot < ArchiveSchedule.SLOTS; slot++) {
            schedule.scanned(slot, 1, 2, List.of(), schedule.mustVerify(slot) ? List.of() : null);
        }
        assertThat(idle.get(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void takesRequestedJobsFirst() throws Exception {
        schedule.open();
        find("a");
        find("b");
        request("c");
        request("b");
        assertThat(take()).isEqualTo("c");
        assertThat(take()).isEqualTo("b");
        assertThat(take()).isEqualTo("a");
    }

    @Test
    void rescansSlotWhenSpaceIsFreed() throws Exception {
        schedule.open();
        find(0, "a", "b", "c");
        assertThat(schedule.backlog().count).isEqualTo(3);
        assertThat(rescan()).isNull();
        Job first = schedule.take();
        assertThat(rescan()).isZero();
        find(0, "b", "c");
        assertThat(rescan()).isNull();
        assertThat(schedule.backlog().count).isEqualTo(3);
        schedule.done(first);
        assertThat(schedule.backlog().count).isEqualTo(2);
        assertThat(take()).isEqualTo("b");
        assertThat(take()).isEqualTo("c");
    }

    @Test
    void limitsNumberOfRequestedNames() {
        schedule.open();
        CompletableFuture<Archived> first = request("a");
        request("b");
        assertRejected(schedule.request(name("c")), "too many requests");
        assertThat(request("a")).as("joins the waiting request").isSameAs(first);
    }

    /** A request made during a job must wait for the next job. The current one may have started before the change. */
    @Test
    void requestDuringRunIsCompletedByNextRun() throws Exception {
        schedule.open();
        backOff.failed(0);
        request("a");
        Job job = schedule.take();
        CompletableFuture<Archived> second = request("a");
        assertThat(request("a")).isSameAs(second);
        request("b");
        Archived archived = new Archived(ArchiveMark.first(1), true);
        job.complete(archived);
        assertThat(second).isNotDone();
        assertThat(take()).isEqualTo("b");
        schedule.done(job);
        schedule.take().complete(archived);
        assertThat(second).isCompletedWithValue(archived);
    }

    @Test
    void requestedDelayedJobIsTakenOnce() throws Exception {
        schedule.open();
        find("a");
        schedule.retry(schedule.take(), 100);
        request("a");
        Job job = schedule.take();
        schedule.retry(job, 0);
        assertThat(schedule.take()).isSameAs(job);
        nowNanos += 100;
        find("b");
        assertThat(take()).isEqualTo("b");
        schedule.done(job);
        find("c");
        assertThat(take()).isEqualTo("c");
    }

    @Test
    void runningJobRunsAgainIfFoundAgain() throws Exception {
        schedule.open();
        find("a");
        Job job = schedule.take();
        find("a");
        find("b");
        assertThat(take()).isEqualTo("b");
        schedule.done(job);
        assertThat(schedule.backlog().count).isEqualTo(2);
        assertThat(schedule.take()).isSameAs(job);
        schedule.done(job);
        assertThat(schedule.backlog().count).isOne();
        assertThat(schedule.awaitIdle(1)).isFalse();
    }

    @Test
    void retriesFailedJobAfterWaitingJobs() throws Exception {
        schedule.open();
        find("a");
        find("b");
        Job first = schedule.take();
        schedule.retry(first, 0);
        assertThat(take()).isEqualTo("b");
        assertThat(schedule.take()).isSameAs(first);
    }

    @Test
    void retryAdoptsRequestMadeDuringRun() throws Exception {
        schedule.open();
        find("a");
        Job job = schedule.take();
        CompletableFuture<Archived> request = request("a");
        job.fail(new IllegalStateException("of the first run"));
        assertThat(request).isNotDone();
        schedule.retry(job, TimeUnit.HOURS.toNanos(1));
        assertThat(schedule.take()).isSameAs(job);
        job.fail(new IllegalStateException("of the second run"));
        assertRejected(request, "of the second run");
    }

    @Test
    void takesDelayedJobWhenDueOrRequested() throws Exception {
        schedule.open();
        find("a");
        find("b");
        Job first = schedule.take();
        Job second = schedule.take();
        schedule.retry(first, 100);
        schedule.retry(second, 100);
        find("c");
        assertThat(schedule.backlog().count).as("there is no space").isEqualTo(3);
        request("b");
        assertThat(take()).isEqualTo("b");
        find("c");
        assertThat(take()).isEqualTo("c");
        assertThat(schedule.awaitIdle(1)).isFalse();
        nowNanos += 100;
        assertThat(schedule.take()).isSameAs(first);
    }

    @Test
    void dropsDelayedJobWhenManyJobsWait() throws Exception {
        schedule.open();
        find("a");
        Job job = schedule.take();
        schedule.scanned(1, 1, 2, List.of(), changes("b", "c", "d", "e"));
        schedule.retry(job, 100);
        assertThat(schedule.backlog().count).isEqualTo(5);
        for (int document = 1; document <= 4; document++) {
            schedule.done(schedule.take());
        }
        assertThat(schedule.backlog().count).isOne();
        assertThat(schedule.awaitIdle(1)).isTrue();
    }

    /** A job must be taken on time even if it becomes due between the check of the schedule and the wait. */
    @Test
    @Timeout(20)
    void takesDelayedJobThatBecomesDueDuringWait() throws Exception {
        ArchiveSchedule ticking = new ArchiveSchedule(2, backOff, () -> nowNanos++, 0, IllegalStateException::new);
        ticking.open();
        for (int nanos = 1; nanos <= 4; nanos++) {
            ticking.scanned(0, 1, 2, changes("a"), null);
            Job job = ticking.take();
            ticking.retry(job, nanos);
            assertThat(ticking.take()).isSameAs(job);
            ticking.done(job);
        }
    }

    @Test
    void droppedJobStaysInBacklogUntilNextScan() throws Exception {
        schedule.open();
        find("a");
        schedule.drop(schedule.take());
        assertThat(schedule.backlog().count).isOne();
        assertThat(schedule.awaitIdle(1)).isTrue();
        find("a");
        assertThat(schedule.backlog().count).isOne();
        Job job = schedule.take();
        find("a");
        schedule.drop(job);
        assertThat(schedule.take()).as("it was found again").isSameAs(job);
    }

    @Test
    void countsAndArchivesDeletionsOnce() throws Exception {
        DeletionRecord first = new DeletionRecord(1, 2, 100, name("a"));
        DeletionRecord second = new DeletionRecord(2, 2, 200, name("a"));
        List<Change> found = Stream.of(first, second)
                .map(deletion -> new Change(deletion.name(), deletion, deletion.deletedAtMillis(), 50))
                .toList();
        schedule.open();
        schedule.scanned(ArchiveSchedule.DELETIONS, 300, 400, found, null);
        find("a");
        assertThat(schedule.backlog().count).isEqualTo(3);
        Job job = schedule.take();
        assertThat(schedule.deletions(job)).containsExactly(first, second);
        schedule.done(job, first);
        assertThat(schedule.backlog().count).isEqualTo(2);
        schedule.drop(job);
        assertThat(schedule.backlog().count).isEqualTo(2);
        schedule.scanned(ArchiveSchedule.DELETIONS, 500, 600, found.subList(1, 2), null);
        assertThat(schedule.deletions(schedule.take())).containsExactly(second);
    }

    @Test
    void slotIsVerifiedWhenAllItsJobsSucceed() throws Exception {
        schedule.open();
        assertThat(schedule.verified()).isTrue();
        schedule.distrust();
        for (int slot = 1; slot < ArchiveSchedule.DELETIONS; slot++) {
            schedule.scanned(slot, 1, 2, List.of(), List.of());
        }
        assertThat(schedule.verified()).isFalse();
        schedule.scanned(0, 1, 2, changes("a"), changes("b", "c", "d"));
        assertThat(schedule.mustVerify(0)).as("it is in progress").isFalse();
        schedule.done(schedule.take());
        schedule.done(schedule.take());
        schedule.done(schedule.take());
        schedule.drop(schedule.take());
        assertThat(schedule.verified()).isFalse();
        assertThat(schedule.mustVerify(0)).as("one has failed").isTrue();
        schedule.scanned(0, 1, 2, changes("d"), changes("a", "b", "c"));
        for (int document = 1; document <= 4; document++) {
            assertThat(schedule.verified()).isFalse();
            schedule.done(schedule.take());
        }
        assertThat(schedule.verified()).isTrue();
    }

    /** A job that started before the archive changed must not count as a verification of the new archive. */
    @Test
    void jobStartedBeforeArchiveChangeVerifiesNothing() throws Exception {
        schedule.open();
        schedule.distrust();
        for (int slot = 0; slot < ArchiveSchedule.DELETIONS; slot++) {
            schedule.scanned(slot, 1, 2, slot == 0 ? changes("a") : List.of(), List.of());
        }
        Job job = schedule.take();
        schedule.distrust();
        for (int slot = 0; slot < ArchiveSchedule.DELETIONS; slot++) {
            schedule.scanned(slot, 1, 2, slot == 0 ? changes("a") : List.of(), List.of());
        }
        schedule.done(job);
        assertThat(schedule.verified()).isFalse();
        schedule.done(schedule.take());
        assertThat(schedule.verified()).isTrue();
    }

    @Test
    void verificationLeavesHalfOfSpaceToChanges() throws Exception {
        schedule.open();
        schedule.distrust();
        find(1, "x", "y");
        schedule.scanned(0, 1, 2, changes("a"), changes("b", "c"));
        assertThat(schedule.backlog().count).isEqualTo(5);
        assertThat(schedule.mustVerify(0)).isTrue();
        take();
        schedule.scanned(0, 1, 2, changes("a"), changes("b", "c"));
        assertThat(schedule.mustVerify(0)).isFalse();
    }

    /**
     * A slot that was scanned while the schedule had no space must be scanned again, even if it has no documents or all
     * of them have jobs.
     */
    @Test
    void rescansSlotNotVerifiedForLackOfSpace() throws Exception {
        schedule.open();
        find(0, "a", "b");
        schedule.scanned(0, 1, 2, List.of(), changes("a", "b"));
        schedule.scanned(1, 1, 2, List.of(), List.of());
        assertThat(rescan()).isNull();
        take();
        assertThat(rescan()).isZero();
        schedule.scanned(0, 1, 2, List.of(), changes("a", "b"));
        take();
        assertThat(rescan()).isOne();
        schedule.scanned(1, 1, 2, List.of(), List.of());
        assertThat(rescan()).isNull();
    }

    @Test
    void closeRejectsRequestsWithoutTheirOwnRunningJob() throws Exception {
        schedule.open();
        CompletableFuture<Archived> waiting = request("a");
        find("b");
        Job waited = schedule.take();
        Job job = schedule.take();
        CompletableFuture<Archived> following = request("b");
        CompletableFuture<Archived> next = request("c");
        schedule.close(false);
        assertRejected(following, "closed");
        assertRejected(next, "closed");
        assertThat(waiting).as("its job runs").isNotDone();
        waited.fail(new IllegalStateException("failed"));
        schedule.retry(waited, 0);
        schedule.done(job);
        assertRejected(schedule.request(name("c")), "closed");
        schedule.open();
        assertThat(take()).isEqualTo("c");
        assertThat(take()).isEqualTo("a");
        assertThat(take()).isEqualTo("b");
    }

    @Test
    void finalCloseDropsJobsAndKeepsBacklog() throws Exception {
        schedule.open();
        find(0, "a", "b");
        Job job = schedule.take();
        CompletableFuture<Archived> following = request("a");
        schedule.close(true);
        schedule.retry(job, 0);
        assertRejected(following, "closed");
        assertThat(schedule.awaitIdle(1)).isTrue();
        assertThat(schedule.backlog().count).isEqualTo(2);
        assertRejected(schedule.request(name("a")), "closed");
        find(0, "a", "b");
        assertThat(schedule.backlog().count).isEqualTo(2);
    }

    @Test
    void backOffDelaysFoundJobsButNotRequests() throws Exception {
        schedule.open();
        find("a");
        backOff.failed(0);
        request("b");
        assertThat(take()).isEqualTo("b");
        nowNanos += TimeUnit.SECONDS.toNanos(1);
        assertThat(take()).isEqualTo("a");
    }

    @Test
    void takeWaitsForOpenAndReturnsNullAfterEnd() throws Exception {
        CompletableFuture<Job> taken = new CompletableFuture<>();
        Thread worker = new Thread(() -> {
            try {
                taken.complete(schedule.take());
            } catch (InterruptedException stopped) {
                taken.completeExceptionally(stopped);
            }
        });
        find("a");
        worker.start();
        Eventually.awaitWaitingOrDone(worker);
        assertThat(taken).isNotDone();
        schedule.close(true);
        assertThat(taken.get(20, TimeUnit.SECONDS)).isNull();
    }

    @Test
    void isIdleWhenNoJobWaitsOrRuns() throws Exception {
        schedule.open();
        assertThat(schedule.awaitIdle(1)).isTrue();
        find("a");
        assertThat(schedule.awaitIdle(1)).isFalse();
        Job job = schedule.take();
        assertThat(schedule.awaitIdle(1)).isFalse();
        schedule.done(job);
        assertThat(schedule.awaitIdle(1)).isTrue();
    }

    @Test
    void awaitRescanEndsOnFreedSpaceOrWakeUp() throws Exception {
        schedule.open();
        schedule.wake();
        assertThat(schedule.awaitRescan(TimeUnit.HOURS.toNanos(1))).isNull();
        assertThat(schedule.awaitRescan(1)).isNull();
        find(0, "a", "b", "c");
        assertThat(schedule.awaitRescan(1)).isNull();
        take();
        assertThat(schedule.awaitRescan(TimeUnit.HOURS.toNanos(1))).isZero();
    }

    @Test
    void rescansAllSlotsAtOnceWhenMarksAreNotReliable() throws Exception {
        schedule.distrust();
        Set<Integer> rescanned = new HashSet<>();
        for (int slot = 0; slot < ArchiveSchedule.DELETIONS; slot++) {
            rescanned.add(rescan());
        }
        assertThat(rescanned).hasSize(ArchiveSchedule.DELETIONS).doesNotContainNull();
        assertThat(schedule.awaitIdle(1)).isFalse();
    }
}
