package io.caravan.testing.simulator;

import io.caravan.NotWritableException;
import io.caravan.engine.Scheduler;
import io.caravan.engine.Worker;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Runs one simulated thread at a time, chosen by a random number generator. While a thread waits, it runs steps of
 * other workers. Time passes only when all threads wait.
 *
 * <p>A simple thread runs an entire step within the wait or I/O call that the step interrupts. {@linkplain #interleaved
 * Interleaved} threads also stop in the middle of a step: before they take a lock, after they have released it, when
 * they wake a worker, and before they read data that another thread has published. Other steps may continue there, and
 * time may pass.
 */
public final class SimulatedScheduler implements Scheduler {
    private static final long STORE_ID = 0x5ca1ab1e;
    /** The maximum simulated time that passes at a switch point. */
    private static final int POINT_NANOS = 2_000_000;
    /** The number of switch rates: a step switches at every point, every second one, every fourth one, and so on. */
    private static final int MOST_SELDOM = 9;

    private static final int MANY_SWITCHES = 32;

    private final RandomGenerator random;
    private final SimulatedClock clock;
    private final boolean interleaves;
    private final List<Stepper> workers = new ArrayList<>();
    private Running current = new Running(null);
    private boolean ending;

    public SimulatedScheduler(RandomGenerator random, SimulatedClock clock) {
        this(random, clock, false);
    }

    private SimulatedScheduler(RandomGenerator random, SimulatedClock clock, boolean interleaves) {
        this.random = random;
        this.clock = clock;
        this.interleaves = interleaves;
    }

    /**
     * Returns a scheduler whose threads also switch at every lock and hand-over. The caller must {@linkplain #end()
     * end} it.
     */
    static SimulatedScheduler interleaved(RandomGenerator random, SimulatedClock clock) {
        return new SimulatedScheduler(random, clock, true);
    }

    /** A simulated thread: a worker in the middle of a step, or the initial thread. */
    private static final class Running {
        private final @Nullable Stepper worker;
        private int guests;
        private int locks;
        private int undisturbed;
        private int switchesOnceIn = 16;
        private int switches;
        private boolean undisturbedUntilLocked;

        Running(@Nullable Stepper worker) {
            this.worker = worker;
        }

        void beginStep(int onceIn) {
            switchesOnceIn = onceIn;
            switches = 0;
        }

        /** Reduces the switch rate of a long step. A checkpoint, for example, has thousands of points. */
        void switchedFromPoint() {
            switches++;
            if (worker != null && switches % MANY_SWITCHES == 0) {
                switchesOnceIn *= 2;
            }
        }
    }

    /** Thrown to unwind the stack of a step that waits for an event that will not occur. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;
    }

    /**
     * Whether the worker and the other workers never wait for each other's steps, in which case this worker may run
     * within an I/O call.
     */
    private static boolean neverWaits(String worker) {
        return !worker.contains("checkpointer");
    }

    private final class Stepper implements Worker {
        private final boolean mayRunInside;
        private final Step step;
        private final Consumer<Throwable> crashed;
        private final Running thread = new Running(this);
        private boolean started;
        private boolean running;
        private boolean woken = true;
        private long dueNanos = UNTIL_WOKEN;
        /** The coroutine of a step that has stopped in the middle, or null. */
        private @Nullable Coroutine rest;
        /** The condition for which the stopped step waits, or null. */
        private @Nullable BooleanSupplier awaited;

        Stepper(String name, Step step, Consumer<Throwable> crashed) {
            this.mayRunInside = interleaves || neverWaits(name);
            this.step = step;
            this.crashed = crashed;
        }

        @Override
        public void start() {
            started = true;
        }

        @Override
        public void wake() {
            woken = true;
            handOver();
        }

        @Override
        public void stop() {
            started = false;
            while (rest != null) {
                if (canContinue()) {
                    run();
                } else {
                    runSomething();
                }
            }
        }

        boolean runnable() {
            return started && canContinue();
        }

        private boolean canContinue() {
            if (running) {
                return false;
            }
            return rest == null ? woken || dueNanos <= clock.nanos() : awaited == null || awaited.getAsBoolean();
        }

        /** Runs a new step or continues a stopped one, until the step ends or stops. */
        void run() {
            running = true;
            if (rest == null) {
                woken = false;
                dueNanos = UNTIL_WOKEN;
                if (interleaves) {
                    thread.beginStep(1 << random.nextInt(MOST_SELDOM));
                }
            }
            if (interleaves) {
                runSteps();
            } else {
                runStep();
            }
            running = false;
        }

        private void runSteps() {
            Coroutine coroutine = rest == null ? new Coroutine(this::runStep) : rest;
            rest = coroutine;
            Running resumer = current;
            current = thread;
            coroutine.resume();
            current = resumer;
            if (coroutine.done()) {
                rest = null;
            }
        }

        private void runStep() {
            try {
                long waitNanos = step.run();
                if (waitNanos == 0) {
                    woken = true;
                } else if (waitNanos != UNTIL_WOKEN) {
                    dueNanos = clock.nanos() + waitNanos;
                }
            } catch (Abandoned end) {
                started = false;
            } catch (RuntimeException | Error failed) {
                crashed.accept(failed);
            }
        }

        /** Stops the step until the scheduler continues it. */
        void suspendUntil(@Nullable BooleanSupplier condition) {
            awaited = condition;
            rest.suspend();
            awaited = null;
        }
    }

    private final class SimulatedLock extends ReentrantLock {
        private static final long serialVersionUID = 1;

        private int holds;

        @Override
        public void lock() {
            if (current.undisturbedUntilLocked) {
                current.undisturbedUntilLocked = false;
            } else {
                handOver();
            }
            take(1);
        }

        /** Takes the lock: no thread is suspended while it holds a lock, so the lock is free. */
        @Override
        public boolean tryLock() {
            lock();
            return true;
        }

        @Override
        public void unlock() {
            take(-1);
            handOver();
        }

        private void take(int times) {
            holds += times;
            current.locks += times;
        }

        @Override
        public Condition newCondition() {
            return new SimulatedCondition(this);
        }
    }

    private final class SimulatedCondition implements Condition {
        private final SimulatedLock lock;
        private long signals;

        SimulatedCondition(SimulatedLock lock) {
            this.lock = lock;
        }

        @Override
        public void await() {
            int holds = lock.holds;
            long before = signals;
            lock.take(-holds);
            if (interleaves && !ending && current.locks > 0) {
                throw new SimulationFailure("somebody waits with another lock than the one that is let go of");
            }
            try {
                waitUntil(() -> signals != before);
            } finally {
                lock.take(holds);
            }
        }

        @Override
        public void awaitUninterruptibly() {
            await();
        }

        @Override
        public long awaitNanos(long nanos) {
            await();
            return nanos;
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            await();
            return true;
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            await();
            return true;
        }

        @Override
        public void signal() {
            signals++;
        }

        @Override
        public void signalAll() {
            signals++;
        }
    }

    /** Returns a constant id, because the id is part of every checksum and determines whether torn data is detected. */
    @Override
    public long newStoreId() {
        return STORE_ID;
    }

    @Override
    public Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed) {
        Stepper worker = new Stepper(name, step, crashed);
        workers.add(worker);
        return worker;
    }

    @Override
    public ReentrantLock newLock() {
        return new SimulatedLock();
    }

    @Override
    public void handOver() {
        Running here = current;
        if (!interleaves || ending || here.locks > 0 || here.undisturbed > 0 || here.undisturbedUntilLocked) {
            return;
        }
        if (random.nextInt(512) == 0) {
            letTimePass(random.nextInt(POINT_NANOS));
        }
        if (random.nextInt(here.switchesOnceIn) == 0) {
            here.switchedFromPoint();
            letAnotherContinue();
        }
    }

    @Override
    public void await(Condition changed) {
        if (current.guests > 0) {
            throw new NotWritableException("the simulated store");
        }
        changed.awaitUninterruptibly();
    }

    @Override
    public <T> T join(CompletableFuture<T> done) {
        while (!done.isDone()) {
            waitUntil(done::isDone);
        }
        return done.join();
    }

    /** Lets other threads continue until the condition holds, but may spuriously return earlier. */
    private void waitUntil(BooleanSupplier condition) {
        if (ending) {
            throw new Abandoned();
        }
        if (current.worker == null || !interleaves) {
            runSomething();
            return;
        }
        current.worker.suspendUntil(condition);
        if (ending) {
            throw new Abandoned();
        }
    }

    @Override
    public boolean mayTouchFiles() {
        return true;
    }

    @Override
    public void doInstead(Runnable work) {
        work.run();
    }

    private void runSomething() {
        if (!step(false)) {
            passTime();
        }
    }

    /** Runs a step of any worker that has work. Returns false if there is none. */
    public boolean step() {
        return step(false);
    }

    /** Runs a step of any worker that has work, within an I/O call made by another worker or while opening a store. */
    public boolean stepInside() {
        return step(true);
    }

    private boolean step(boolean inside) {
        int count = workers.size();
        int first = random.nextInt(Math.max(1, count));
        for (int i = 0; i < count; i++) {
            Stepper worker = workers.get((first + i) % count);
            if (worker.runnable() && (!inside || worker.mayRunInside)) {
                worker.run();
                return true;
            }
        }
        return false;
    }

    private void passTime() {
        long next = Worker.UNTIL_WOKEN;
        for (Stepper worker : workers) {
            if (worker.started && !worker.running && worker.rest == null) {
                next = Math.min(next, worker.dueNanos);
            }
        }
        if (next == Worker.UNTIL_WOKEN) {
            throw new SimulationFailure("somebody waits, and no worker will ever do anything again");
        }
        clock.advanceTo(next);
    }

    /** Advances the time by this duration, so that all shorter waits end. */
    public void letTimePass(long nanos) {
        clock.advanceTo(clock.nanos() + nanos);
    }

    /** Switches to a thread that the generator chooses. */
    void letAnotherContinue() {
        Stepper worker = current.worker;
        if (worker == null) {
            step(true);
        } else {
            worker.suspendUntil(null);
        }
    }

    /** Runs an action within another call; the action must not wait, and an attempt to wait throws an exception. */
    public void asGuest(Runnable action) {
        Running guest = current;
        guest.guests++;
        try {
            action.run();
        } finally {
            guest.guests--;
        }
    }

    /** Whether the initial thread, not a worker, is running. */
    boolean onFirstThread() {
        return current.worker == null;
    }

    /** Runs an action without switching threads, unless it waits. */
    void undisturbed(Runnable action) {
        Running here = current;
        here.undisturbed++;
        try {
            action.run();
        } finally {
            here.undisturbed--;
        }
    }

    /** Prevents switches until this thread has taken its next lock, so that it sees the current state. */
    void undisturbedUntilLocked() {
        current.undisturbedUntilLocked = true;
    }

    /** Ends all steps that have stopped in the middle. Threads no longer switch. */
    void end() {
        ending = true;
        for (Stepper worker : workers) {
            while (worker.rest != null && !worker.running) {
                worker.run();
            }
        }
    }
}
