package io.caravan.bench.torture;

import io.caravan.VerifyReport;
import io.caravan.bench.Directories;
import io.caravan.bench.LocalSocket;
import io.caravan.bench.torture.Checker.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The supervisor: round after round on one directory it starts a child that works on the store, ends it, mostly by
 * SIGKILL, and checks what is left against its own record.
 *
 * <p>One round: a child works until its {@link Fate}; now and then the recovery is killed too; a second child opens the
 * store and reads it all out; the {@link Checker} judges; the second child is killed or closes; the store is verified.
 * As the second child may be killed, working children start from stores that were closed, recovered or both.
 */
public final class Torture {
    private static final double KILL_AT_START = 0.15;
    private static final double CLEAN_CLOSE = 0.15;
    private static final double KILL_IN_RECOVERY = 0.25;
    private static final double KILL_AFTER_CHECK = 0.5;
    /** A kill may come a little later than the phase it aims at usually lasts. */
    private static final double AIM = 1.25;

    private static final long FIRST_GUESS_NANOS = 500_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TortureOptions options;
    private final PrintStream out;
    private final Path store;
    private final Path evidence;
    private final Path log;
    private final SplittableRandom random;
    private final Checker checker;
    private final StoreModel model = new StoreModel();
    private final TortureSummary summary = new TortureSummary();
    private long usualStartNanos = FIRST_GUESS_NANOS;
    private long usualCheckNanos = FIRST_GUESS_NANOS;

    public Torture(TortureOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
        store = options.directory().resolve("store");
        evidence = options.directory().resolve("as-the-kill-left-it");
        log = options.directory().resolve("children.log");
        random = new SplittableRandom(options.seed());
        checker = new Checker(new Lists(options.workers(), options.lists()));
    }

    /** How a working child ends. */
    enum Fate {
        KILLED_AT_WORK("killed at work"),
        KILLED_AT_START("killed at start"),
        CLOSED("closed");

        private final String words;

        Fate(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** Runs all rounds, or up to the first failure. */
    public TortureSummary run() throws IOException, InterruptedException {
        Files.createDirectories(options.directory());
        try (LocalSocket socket = LocalSocket.listen()) {
            for (int round = 1; round <= options.rounds() && summary.clean(); round++) {
                round(round, socket);
            }
        }
        return summary;
    }

    private void round(int round, LocalSocket socket) throws IOException, InterruptedException {
        RoundReport report = new RoundReport(round, random.nextLong());
        List<String> problems = report.problems();
        Ledger work = work(socket, report);
        Directories.copy(existing(store), evidence);
        while (random.nextDouble() < KILL_IN_RECOVERY) {
            interruptRecovery(socket, report);
        }
        check(socket, work, report);
        if (problems.isEmpty()) {
            verify(report);
        }
        summary.add(report);
        out.println(report.line());
        report.problems().forEach(out::println);
    }

    private static Path existing(Path directory) throws IOException {
        return Files.createDirectories(directory);
    }

    private Ledger work(LocalSocket socket, RoundReport report) throws IOException, InterruptedException {
        Fate fate = drawFate();
        try (ChildSession session = start(socket, true, report)) {
            if (fate == Fate.KILLED_AT_START) {
                report.ended(fate, sleepAtMost(AIM * usualStartNanos));
            } else {
                usualStartNanos = session.awaitMilestone();
                report.ended(fate, sleepAtMost(options.secondsPerRound() * NANOS_PER_SECOND));
            }
            if (fate == Fate.CLOSED) {
                session.stop();
            } else {
                session.kill();
            }
            report.acknowledged(session.ledger().acknowledged().size());
            return session.ledger();
        }
    }

    private Fate drawFate() {
        double dice = random.nextDouble();
        if (dice < KILL_AT_START) {
            return Fate.KILLED_AT_START;
        }
        return dice < KILL_AT_START + CLEAN_CLOSE ? Fate.CLOSED : Fate.KILLED_AT_WORK;
    }

    /** Returns the time slept, in milliseconds. */
    private long sleepAtMost(double nanos) throws InterruptedException {
        long millis = (long) (random.nextDouble() * nanos / NANOS_PER_MILLI);
        Thread.sleep(millis);
        return millis;
    }

    private void interruptRecovery(LocalSocket socket, RoundReport report) throws IOException, InterruptedException {
        try (ChildSession session = start(socket, false, report)) {
            sleepAtMost(AIM * usualCheckNanos);
            session.kill();
            report.recoveryInterrupted(session.ledger().problems());
        }
    }

    private void check(LocalSocket socket, Ledger work, RoundReport report) throws IOException, InterruptedException {
        try (ChildSession session = start(socket, false, report)) {
            usualCheckNanos = session.awaitMilestone();
            if (random.nextDouble() < KILL_AFTER_CHECK) {
                session.kill();
            } else {
                session.stop();
            }
            Ledger told = session.ledger();
            report.problems().addAll(told.problems());
            if (!told.listed()) {
                report.problems().add("the store could not be read out");
                return;
            }
            Verdict verdict = checker.check(model, work, told.found());
            report.checked(verdict, told.openNanos(), told.found());
        }
    }

    private ChildSession start(LocalSocket socket, boolean work, RoundReport report) throws IOException {
        ChildPlan plan = new ChildPlan(
                socket.path(), store, work, report.seed(), report.round(), options.workers(), options.lists());
        return ChildSession.start(socket, options.childMain(), plan, log, work ? Message.OPENED : Message.LISTED);
    }

    private void verify(RoundReport report) {
        long start = System.nanoTime();
        VerifyReport verified = options.verifier().verify(store);
        report.verified(System.nanoTime() - start);
        verified.faults().forEach(fault -> report.problems().add("verify: " + fault.getMessage()));
    }
}
