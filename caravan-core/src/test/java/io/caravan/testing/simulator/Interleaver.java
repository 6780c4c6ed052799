package io.caravan.testing.simulator;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs one of several threads at a time. A seed chooses the running thread at each {@link SwitchPoints switch point} of
 * the classes under test. This class models monitors, so a thread may stop while it holds one. If no thread can
 * continue and one that must end has not ended, this is an error: a wake-up was lost, or the threads are deadlocked.
 */
public final class Interleaver implements AutoCloseable {
    private static final ThreadLocal<@Nullable Interleaver> CURRENT = new ThreadLocal<>();
    /** The number of switch rates: threads switch at every point, every second one, every fourth one, and so on. */
    private static final int MOST_SELDOM = 6;

    private static final int UNWINDINGS = 1_000;

    private final SplittableRandom random;
    private final int switchesOnceIn;
    private final List<Strand> strands = new ArrayList<>();
    private final Map<Object, Monitor> monitors = new IdentityHashMap<>();
    private Runnable invariant = () -> {};
    private BooleanSupplier whenStuck = () -> false;
    /** A semaphore that has a permit while no thread is running. */
    private final Semaphore stopped = new Semaphore(0);

    private @Nullable Strand running;
    private @Nullable Throwable failure;
    private boolean choosing;
    private boolean ending;

    /** The work of a thread. */
    @FunctionalInterface
    public interface Task {
        void run() throws Exception;
    }

    /** Thrown to unwind a thread that waits for an event that will not occur. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;
    }

    private static final class Monitor {
        private @Nullable Strand owner;
        private int holds;
    }

    private final class Strand {
        private final String name;
        private final boolean mustEnd;
        private final Coroutine coroutine;
        private String awaits = "";
        private @Nullable BooleanSupplier awaited;

        Strand(String name, boolean mustEnd, Task task) {
            this.name = name;
            this.mustEnd = mustEnd;
            this.coroutine = new Coroutine(() -> perform(task), stopped);
        }

        private void perform(Task task) {
            CURRENT.set(Interleaver.this);
            try {
                if (!ending) {
                    task.run();
                }
            } catch (Abandoned end) {
                // Expected.
            } catch (Throwable problem) {
                fail(problem);
            } finally {
                CURRENT.remove();
            }
        }

        boolean canContinue() {
            return awaited == null || holds(awaited);
        }

        @Override
        public String toString() {
            return name + " waits for " + awaits;
        }
    }

    public Interleaver(long seed) {
        random = new SplittableRandom(seed);
        switchesOnceIn = 1 << random.nextInt(MOST_SELDOM);
    }

    /** Returns the random number generator, initialized from the seed, for all random decisions outside this class. */
    public SplittableRandom random() {
        return random;
    }

    /** Sets a check that runs whenever threads switch. */
    public void always(Runnable check) {
        invariant = check;
    }

    /**
     * Sets the action to run when no thread can continue, for example to advance the time. The action returns whether a
     * thread may continue afterward.
     */
    public void whenStuck(BooleanSupplier action) {
        whenStuck = action;
    }

    /** Adds a thread that must have ended when the run ends. */
    public void thread(String name, Task task) {
        strands.add(new Strand(name, true, task));
    }

    /** Adds a thread that may still be waiting when the run ends. */
    public void daemon(String name, Task task) {
        strands.add(new Strand(name, false, task));
    }

    /** Adds a thread that performs the step again and again, whenever there is work. */
    public void worker(String name, BooleanSupplier hasWork, Task step) {
        daemon(name, () -> {
            while (true) {
                await("work", hasWork);
                step.run();
            }
        });
    }

    /** Runs the threads until those that must end have ended and no other thread can continue. */
    public void run() {
        boolean continues = true;
        while (continues) {
            Strand next = choose();
            if (next != null) {
                resume(next);
            }
            throwFailure();
            continues = next != null || whenStuck.getAsBoolean();
        }
        List<Strand> stuck = strands.stream().filter(strand -> strand.mustEnd).toList();
        if (!stuck.isEmpty()) {
            throw new AssertionError(
                    "none can go on: " + stuck.stream().map(Strand::toString).collect(Collectors.joining(", ")));
        }
    }

    private void throwFailure() {
        if (failure instanceof AssertionError known) {
            throw known;
        }
        if (failure != null) {
            throw new AssertionError("a thread broke: " + failure, failure);
        }
    }

    /**
     * Resumes a thread. Returns when that thread, or another one that has run since through switches, has ended, or
     * when no thread can continue.
     */
    private void resume(Strand strand) {
        begin(strand);
        strand.coroutine.resume();
        strands.removeIf(any -> any.coroutine.done());
        running = null;
    }

    private void begin(Strand strand) {
        running = strand;
        strand.awaited = null;
    }

    /** Evaluates, without switching threads, the condition for which a thread waits. */
    private boolean holds(BooleanSupplier condition) {
        boolean before = choosing;
        choosing = true;
        try {
            return condition.getAsBoolean();
        } finally {
            choosing = before;
        }
    }

    /** Checks the invariant. Returns a thread that can continue, or null if there is none or something has failed. */
    private @Nullable Strand choose() {
        if (!ending && failure == null) {
            try {
                choosing = true;
                invariant.run();
            } catch (AssertionError broken) {
                failure = broken;
            } finally {
                choosing = false;
            }
        }
        if (failure != null) {
            return null;
        }
        List<Strand> ready = strands.stream().filter(Strand::canContinue).toList();
        return ready.isEmpty() ? null : ready.get(random.nextInt(ready.size()));
    }

    /** Ends all waiting threads. */
    @Override
    public void close() {
        ending = true;
        for (int i = 0; i < UNWINDINGS && !strands.isEmpty(); i++) {
            resume(strands.get(0));
        }
    }

    /** Reports a failure of the run. Only the first failure counts. */
    public void fail(Throwable problem) {
        if (failure == null && !ending) {
            failure = problem;
        }
    }

    private void switchPoint() {
        if (!choosing && !ending && random.nextInt(switchesOnceIn) == 0) {
            switchNow();
        }
    }

    private void switchNow() {
        Strand here = running;
        if (here != null) {
            switchTo(choose(), here);
        }
    }

    private void switchTo(@Nullable Strand next, Strand here) {
        if (next == null) {
            here.coroutine.suspend();
        } else if (next != here) {
            begin(next);
            here.coroutine.switchTo(next.coroutine);
        } else {
            here.awaited = null;
        }
    }

    private void suspendUntil(String what, BooleanSupplier condition) {
        Strand here = running;
        if (here == null) {
            throw new IllegalStateException("waits for " + what + " outside of all threads");
        }
        do {
            if (ending) {
                throw new Abandoned();
            }
            here.awaits = what;
            here.awaited = condition;
            switchTo(choose(), here);
        } while (!holds(condition));
        if (ending) {
            throw new Abandoned();
        }
    }

    // For the threads, and for the code that SwitchPoints inserts. On any other thread, these calls do nothing.

    /** Returns the name of the running thread; empty on a thread that does not belong to an interleaver. */
    public static String currentName() {
        Interleaver here = CURRENT.get();
        return here == null || here.running == null ? "" : here.running.name;
    }

    /** A switch point, at which the interleaver may let other threads continue. */
    public static void point() {
        Interleaver here = CURRENT.get();
        if (here != null) {
            here.switchPoint();
        }
    }

    /** Waits until the condition holds. Other threads may run in the meantime. */
    public static void await(String what, BooleanSupplier condition) {
        Interleaver here = CURRENT.get();
        if (here == null) {
            throw new IllegalStateException("no thread of an interleaver waits for " + what);
        }
        here.switchPoint();
        if (here.ending || !here.holds(condition)) {
            here.suspendUntil(what, condition);
        }
    }

    /** Waits until the future is done, so that the call that follows does not block. */
    public static void await(Future<?> done) {
        Interleaver here = CURRENT.get();
        if (here != null) {
            here.switchPoint();
            if (!done.isDone()) {
                here.suspendUntil("a future", done::isDone);
            }
        }
    }

    /** Enters the monitor of an object, as the interleaver models it. */
    public static void enter(Object lock) {
        Interleaver here = CURRENT.get();
        if (here == null || here.choosing) {
            return;
        }
        here.switchPoint();
        Strand self = here.running;
        Monitor monitor = here.monitor(lock);
        while (monitor.owner != null && monitor.owner != self) {
            Monitor taken = monitor;
            here.suspendUntil("a monitor", () -> taken.owner == null);
            // Another thread may have entered since then: its exit has removed this monitor.
            monitor = here.monitor(lock);
        }
        monitor.owner = self;
        monitor.holds++;
    }

    private Monitor monitor(Object lock) {
        return monitors.computeIfAbsent(lock, unused -> new Monitor());
    }

    /** Exits the monitor of an object, as the interleaver models it. */
    public static void exit(Object lock) {
        Interleaver here = CURRENT.get();
        if (here == null || here.choosing) {
            return;
        }
        Monitor monitor = here.monitors.get(lock);
        if (monitor != null && --monitor.holds == 0) {
            monitor.owner = null;
            here.switchPoint();
        }
    }
}
