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
 * Threads of which one runs at a time; a seed decides which, at each {@link SwitchPoints switch point} of the classes
 * under test. Monitors are modelled here, so a thread may stop while it holds one. Ends with an error when none can go
 * on and one that must end has not: a wake-up was lost, or threads wait for each other.
 */
public final class Interleaver implements AutoCloseable {
    private static final ThreadLocal<@Nullable Interleaver> CURRENT = new ThreadLocal<>();
    /** Threads switch at each point, at half of them, at a quarter, and so on, in so many degrees. */
    private static final int MOST_SELDOM = 6;

    private static final int UNWINDINGS = 1_000;

    private final SplittableRandom random;
    private final int switchesOnceIn;
    private final List<Strand> strands = new ArrayList<>();
    private final Map<Object, Monitor> monitors = new IdentityHashMap<>();
    private Runnable invariant = () -> {};
    private BooleanSupplier whenStuck = () -> false;
    /** Has a permit when none runs. */
    private final Semaphore stopped = new Semaphore(0);

    private @Nullable Strand running;
    private @Nullable Throwable failure;
    private boolean choosing;
    private boolean ending;

    /** What a thread does. */
    @FunctionalInterface
    public interface Task {
        void run() throws Exception;
    }

    /** Unwinds a thread that waits for what will not happen any more. */
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
                // As wanted.
            } catch (Throwable problem) {
                fail(problem);
            } finally {
                CURRENT.remove();
            }
        }

        boolean canGoOn() {
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

    /** What else is decided by the seed. */
    public SplittableRandom random() {
        return random;
    }

    /** Sets what is checked whenever threads switch. */
    public void always(Runnable check) {
        invariant = check;
    }

    /** Sets what happens when none can go on, such as that time passes; returns whether one may go on after it. */
    public void whenStuck(BooleanSupplier action) {
        whenStuck = action;
    }

    /** Adds a thread that must end. */
    public void thread(String name, Task task) {
        strands.add(new Strand(name, true, task));
    }

    /** Adds a thread that may wait when all others have ended. */
    public void daemon(String name, Task task) {
        strands.add(new Strand(name, false, task));
    }

    /** Adds a thread that does the step whenever there is work. */
    public void worker(String name, BooleanSupplier hasWork, Task step) {
        daemon(name, () -> {
            while (true) {
                await("work", hasWork);
                step.run();
            }
        });
    }

    /** Has the threads go on until all that must end have ended, and none can go on. */
    public void run() {
        boolean goesOn = true;
        while (goesOn) {
            Strand next = choose();
            if (next != null) {
                resume(next);
            }
            throwFailure();
            goesOn = next != null || whenStuck.getAsBoolean();
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

    /** Returns when it, or one that others switched to, has ended, or none can go on. */
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

    /** Nobody else goes on meanwhile. */
    private boolean holds(BooleanSupplier condition) {
        boolean before = choosing;
        choosing = true;
        try {
            return condition.getAsBoolean();
        } finally {
            choosing = before;
        }
    }

    /** One that can go on, after a look at what must always hold; null when there is none, or something has failed. */
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
        List<Strand> ready = strands.stream().filter(Strand::canGoOn).toList();
        return ready.isEmpty() ? null : ready.get(random.nextInt(ready.size()));
    }

    /** Ends what still waits. */
    @Override
    public void close() {
        ending = true;
        for (int i = 0; i < UNWINDINGS && !strands.isEmpty(); i++) {
            resume(strands.get(0));
        }
    }

    /** The first failure counts; for threads that report it elsewhere. */
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

    // For the threads, and for what SwitchPoints puts into their classes. On any other thread there is nothing to do.

    /** The name of the thread that runs; empty on others than an interleaver's. */
    public static String currentName() {
        Interleaver here = CURRENT.get();
        return here == null || here.running == null ? "" : here.running.name;
    }

    /** Other threads may go on here. */
    public static void point() {
        Interleaver here = CURRENT.get();
        if (here != null) {
            here.switchPoint();
        }
    }

    /** Returns when the condition holds, and other threads have had a chance to go on. */
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

    /** Returns when the future is done; what follows does not wait then. */
    public static void await(Future<?> done) {
        Interleaver here = CURRENT.get();
        if (here != null) {
            here.switchPoint();
            if (!done.isDone()) {
                here.suspendUntil("a future", done::isDone);
            }
        }
    }

    /** Takes a monitor. */
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
            // Another thread may have taken the lock since: its release has removed this monitor.
            monitor = here.monitor(lock);
        }
        monitor.owner = self;
        monitor.holds++;
    }

    private Monitor monitor(Object lock) {
        return monitors.computeIfAbsent(lock, unused -> new Monitor());
    }

    /** Releases a monitor. */
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
