package io.caravan.torture.round;

import io.caravan.torture.disk.SmallVolume;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.round.TortureSubject.Shift;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts a working process through trials: it is suspended and resumed, a second process tries to open its store, and the
 * disk fills up and gets space again. After each trial, the process must continue without intervention.
 */
final class Hardships {
    private static final double PAUSE = 0.15;
    private static final double SECOND_PROCESS = 0.1;
    private static final double SPACE_BACK = 0.5;
    private static final long LONGEST_PAUSE_MILLIS = 400;
    private static final long TIMEOUT_SECONDS = TortureSession.TIMEOUT.toSeconds() / 2;
    private static final long POLL_MILLIS = 10;
    /** The number of further changes after which the process counts as working again. */
    private static final int SOME = 10;

    private final TortureSubject subject;
    private final @Nullable SmallVolume volume;
    private final SplittableRandom random;

    /**
     * Creates trials for any number of sessions.
     *
     * @param volume the volume to fill up; null for none
     */
    Hardships(TortureSubject subject, @Nullable SmallVolume volume, SplittableRandom random) {
        this.subject = subject;
        this.volume = volume;
        this.random = random;
    }

    /** Puts the session through trials. Afterward, the session is still at work, so that a kill interrupts its work. */
    void impose(TortureSession session, Shift shift, RoundReport report) throws IOException, InterruptedException {
        // Waits even on a slow machine, because a kill before the first acknowledgment would prove nothing.
        awaitMore(session.ledger()::acknowledgedCount, report, "nothing was acknowledged");
        if (random.nextDouble() < PAUSE) {
            pause(session, report);
        }
        if (random.nextDouble() < SECOND_PROCESS) {
            startSecondProcess(session, shift, report);
        }
        if (volume != null && shift.appetite() == Appetite.GREEDY) {
            fillUp(volume, session, report);
        }
    }

    private void pause(TortureSession session, RoundReport report) throws IOException, InterruptedException {
        session.pause();
        Thread.sleep(random.nextLong(LONGEST_PAUSE_MILLIS));
        session.resume();
        awaitProgress(session, report, "after SIGSTOP and SIGCONT");
        report.suffered(RoundReport.Trial.PAUSED);
    }

    private void startSecondProcess(TortureSession session, Shift shift, RoundReport report)
            throws IOException, InterruptedException {
        String words = subject.intrude(shift);
        if (!words.contains("already open in process")) {
            report.problem("a second process did not fail because the store is already open; it reported: " + words);
        }
        awaitProgress(session, report, "after a second process tried to open the store");
        report.suffered(RoundReport.Trial.SECOND_PROCESS_REJECTED);
    }

    private void awaitProgress(TortureSession session, RoundReport report, String when) throws InterruptedException {
        awaitMore(session.ledger()::acknowledgedCount, report, "nothing was acknowledged " + when);
    }

    /**
     * Checks that the store rejects only appends while the disk is full, and accepts appends once the disk has space
     * again.
     */
    private void fillUp(SmallVolume disk, TortureSession session, RoundReport report)
            throws IOException, InterruptedException {
        Ledger ledger = session.ledger();
        long rejections = ledger.rejections.get();
        disk.fill();
        await(() -> ledger.rejections.get() > rejections, report, "no write was rejected while the disk was full");
        await(
                () -> ledger.releasesWithoutSpace.get() > 0,
                report,
                "no trim or delete succeeded while the disk was full");
        awaitMore(ledger.reads::get, report, "no read succeeded while the disk was full");
        report.suffered(RoundReport.Trial.DISK_FULL);
        if (random.nextDouble() < SPACE_BACK) {
            disk.free();
            awaitMore(ledger.appends::get, report, "no append succeeded after space had returned");
            report.suffered(RoundReport.Trial.SPACE_BACK);
        }
    }

    private static void awaitMore(LongSupplier count, RoundReport report, String otherwise)
            throws InterruptedException {
        long before = count.getAsLong();
        await(() -> count.getAsLong() >= before + SOME, report, otherwise);
    }

    private static void await(BooleanSupplier condition, RoundReport report, String otherwise)
            throws InterruptedException {
        for (long left = TIMEOUT_SECONDS * 1000 / POLL_MILLIS; !condition.getAsBoolean(); left--) {
            if (left == 0) {
                report.problem(otherwise + ", for " + TIMEOUT_SECONDS + " s");
                return;
            }
            Thread.sleep(POLL_MILLIS);
        }
    }
}
