package io.caravan.torture.round;

import io.caravan.VerifyReport;
import io.caravan.bench.WorkDirectories;
import io.caravan.torture.model.Checker;
import io.caravan.torture.model.Checker.Verdict;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.Lists;
import io.caravan.torture.model.StoreModel;
import io.caravan.torture.round.TortureSubject.Shift;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * Supervises a torture run. In each round, the supervisor starts a process that works on the store, ends the process
 * (usually with SIGKILL), and checks the surviving contents against its own record. All rounds use the same directory.
 *
 * <p>One round: a process works, undergoes some {@link Hardships}, and ends ({@link RoundReport.Fate}); sometimes the
 * recovery is also killed. A second process opens the store and reads all its contents, and the {@link Checker} checks
 * them. The second process is killed or closes the store, and the store is verified. The next round therefore starts
 * from a store that was closed, recovered, or both.
 */
public final class Torture {
    private static final double KILL_AT_START = 0.15;
    private static final double CLEAN_CLOSE = 0.15;
    private static final double KILL_IN_RECOVERY = 0.25;
    private static final double KILL_AFTER_CHECK = 0.5;
    private static final double FILL_UP = 0.6;
    /** The latest time of a kill, as a multiple of the usual duration of the phase in which it should happen. */
    private static final double AIM = 1.25;

    private static final long FIRST_GUESS_NANOS = 500_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TortureOptions options;
    private final TortureSubject subject;
    private final Function<Path, VerifyReport> verifier;
    private final PrintStream out;
    private final SplittableRandom random;
    private final Hardships hardships;
    private final Checker checker;
    private final StoreModel model;
    private final TortureSummary summary = new TortureSummary();
    private long usualStartNanos = FIRST_GUESS_NANOS;
    private long usualCheckNanos = FIRST_GUESS_NANOS;

    public Torture(
            TortureOptions options, TortureSubject subject, Function<Path, VerifyReport> verifier, PrintStream out) {
        this.options = options;
        this.subject = subject;
        this.verifier = verifier;
        this.out = out;
        random = new SplittableRandom(options.seed());
        hardships = new Hardships(subject, options.volume(), random);
        checker = new Checker(new Lists(options.workers(), options.lists()), smallDisk());
        model = subject.newModel();
    }

    private boolean smallDisk() {
        return options.volume() != null;
    }

    /** Runs all rounds, or the rounds up to the first failure. */
    public TortureSummary run() throws IOException, InterruptedException {
        Files.createDirectories(options.directory());
        long start = System.nanoTime();
        for (int round = 1; round <= options.rounds() && summary.clean(); round++) {
            if (System.nanoTime() - start > options.time().toNanos()) {
                break;
            }
            RoundReport report = new RoundReport(round, random.nextLong());
            round(report);
            summary.add(report);
            out.println(report.line());
            report.problems.forEach(out::println);
        }
        return summary;
    }

    private void round(RoundReport report) throws IOException, InterruptedException {
        Shift shift = new Shift(report.round, report.seed, drawAppetite(), smallDisk());
        try {
            Ledger work = work(shift, report);
            WorkDirectories.copy(Files.createDirectories(options.store()), options.evidence());
            while (random.nextDouble() < KILL_IN_RECOVERY) {
                interruptRecovery(shift, report);
            }
            check(shift, work, report);
        } catch (IOException stuck) {
            report.problem("the round failed: " + stuck);
        }
        if (options.volume() != null) {
            options.volume().free();
        }
        if (report.problems.isEmpty()) {
            verify(report);
        }
    }

    private Appetite drawAppetite() {
        return smallDisk() && random.nextDouble() < FILL_UP ? Appetite.GREEDY : Appetite.MODERATE;
    }

    private Ledger work(Shift shift, RoundReport report) throws IOException, InterruptedException {
        RoundReport.Fate fate = drawFate();
        try (TortureSession session = subject.work(shift, model)) {
            long start = System.nanoTime();
            if (fate == RoundReport.Fate.KILLED_AT_START) {
                sleepAtMost(AIM * usualStartNanos);
            } else {
                usualStartNanos = session.awaitMilestone();
                start = System.nanoTime();
                workOn(session, shift, report);
            }
            long aliveMillis = (System.nanoTime() - start) / NANOS_PER_MILLI;
            if (fate == RoundReport.Fate.CLOSED) {
                session.stop();
            } else {
                session.kill();
            }
            report.ended(fate, aliveMillis, session.ledger());
            return session.ledger();
        }
    }

    private void workOn(TortureSession session, Shift shift, RoundReport report)
            throws IOException, InterruptedException {
        sleepAtMost(options.secondsPerRound() / 2 * NANOS_PER_SECOND);
        hardships.impose(session, shift, report);
        sleepAtMost(options.secondsPerRound() / 2 * NANOS_PER_SECOND);
        if (shift.smallDisk()) {
            // The effects of changes in flight can be determined only if none of them was rejected.
            session.oneAtATime();
        }
    }

    private RoundReport.Fate drawFate() {
        double dice = random.nextDouble();
        if (dice < KILL_AT_START) {
            return RoundReport.Fate.KILLED_AT_START;
        }
        return dice < KILL_AT_START + CLEAN_CLOSE ? RoundReport.Fate.CLOSED : RoundReport.Fate.KILLED_AT_WORK;
    }

    private void sleepAtMost(double nanos) throws InterruptedException {
        Thread.sleep((long) (random.nextDouble() * nanos / NANOS_PER_MILLI));
    }

    private void interruptRecovery(Shift shift, RoundReport report) throws IOException, InterruptedException {
        try (TortureSession session = subject.readOut(shift)) {
            sleepAtMost(AIM * usualCheckNanos);
            session.kill();
            report.recoveryInterrupted(session.ledger().problems());
        }
    }

    private void check(Shift shift, Ledger work, RoundReport report) throws IOException, InterruptedException {
        try (TortureSession session = subject.readOut(shift)) {
            usualCheckNanos = session.awaitMilestone();
            if (random.nextDouble() < KILL_AFTER_CHECK) {
                session.kill();
            } else {
                session.stop();
            }
            Ledger reported = session.ledger();
            reported.problems().forEach(report::problem);
            if (!reported.listed) {
                work.problems().forEach(report::problem);
                report.problem("the contents of the store could not be read");
                return;
            }
            checkReplay(reported, report);
            Verdict verdict = checker.check(model, work, reported.found);
            if (report.fate == RoundReport.Fate.CLOSED && verdict.kept() > 0) {
                report.problem(
                        verdict.kept() + " changes took effect without a reply, although the store was closed cleanly");
            }
            report.checked(verdict, reported.openNanos, reported.found);
        }
    }

    /**
     * Checks that the store replays nothing after a clean close. On a full disk, the checkpoint that makes a replay
     * unnecessary may be missing.
     */
    private void checkReplay(Ledger reported, RoundReport report) {
        if (report.fate == RoundReport.Fate.CLOSED && !smallDisk() && reported.replayedFrames > 0) {
            report.problem(reported.replayedFrames + " frames had to be replayed, though the store was closed cleanly");
        }
    }

    private void verify(RoundReport report) {
        long start = System.nanoTime();
        VerifyReport verified = verifier.apply(options.store());
        report.verified(System.nanoTime() - start);
        verified.faults().forEach(fault -> report.problem("verify: " + fault.getMessage()));
    }
}
