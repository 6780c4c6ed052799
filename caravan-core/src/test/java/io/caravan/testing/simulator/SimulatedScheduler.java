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
 * One thread runs at a time; which one, the generator chooses. Whoever waits runs other workers' steps in the meantime.
 * Time passes only when nobody has anything to do.
 *
 * <p>Simple threads run a step as a whole, inside of the wait or I/O call that it interrupts. Those that {@linkplain
 * #interleaved are interleaved} also stop in the middle of a step: before they take a lock, after they have released it,
 * when they wake a worker, and before they read what another has published. Other steps may go on from there, and time
 * may pass.
 */
public final class SimulatedScheduler implements Scheduler {
    private static final long STORE_ID = 0x5ca1ab1e;
    /** The most time that passes at a point of switching. */
    private static final int POINT_NANOS = 2_000_000;
    /** A step switches at each point, at half of them, at a quarter, and so on, in so many degrees. */
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

    /** Threads that switch at every lock and hand-over too. Must be {@linkplain #end() ended}. */
    static SimulatedScheduler interleaved(RandomGenerator random, SimulatedClock clock) {
        return new SimulatedScheduler(random, clock, true);
    }

    /** A simulated thread: a worker that is in the middle of a step, or else the thread that all began on. */
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

        /** A step of thousands of points, such as a checkpoint, switches ever more seldom. */
        void switchedFromPoint() {
            switches++;
            if (worker != null && switches % MANY_SWITCHES == 0) {
                switchesOnceIn *= 2;
            }
        }
    }

    /** Unwinds the stack of a step that waits for what will not happen any more. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;
    }

    /** The workers neither wait for each other's steps nor are waited for, when they run inside somebody's I/O call. */
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
        /** The rest of a step that has stopped in the middle. */
        private @Nullable Coroutine rest;
        /** What it waits for before it goes on. */
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
                if (canGoOn()) {
                    run();
                } else {
                    runSomething();
                }
            }
        }

        boolean runnable() {
            return started && canGoOn();
        }

        private boolean canGoOn() {
            if (running) {
                return false;
            }
            return rest == null ? woken || dueNanos <= clock.nanos() : awaited == null || awaited.getAsBoolean();
        }

        /** Runs a step, or goes on with one, until it ends or stops. */
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
                goOn();
            } else {
                runStep();
            }
            running = false;
        }

        private void goOn() {
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

        /** Stops the step here; returns when it is gone on with. */
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

    /** Part of every checksum: whether a torn one is noticed depends on it. */
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
            letAnotherGoOn();
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

    /** Has others go on; returns when the condition holds, or for no reason at all. */
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

    /** Runs a step of some worker that has something to do; false when there is none. */
    public boolean step() {
        return step(false);
    }

    /** The same from inside an I/O call of some worker's, or of an opening's. */
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

    /** Makes all be due that waits for a time not longer than this. */
    public void letTimePass(long nanos) {
        clock.advanceTo(clock.nanos() + nanos);
    }

    /** Switches to whichever thread the generator chooses. */
    void letAnotherGoOn() {
        Stepper worker = current.worker;
        if (worker == null) {
            step(true);
        } else {
            worker.suspendUntil(null);
        }
    }

    /** Runs what may not wait, as it comes in the middle of something else: a wait makes it throw. */
    public void asGuest(Runnable action) {
        Running guest = current;
        guest.guests++;
        try {
            action.run();
        } finally {
            guest.guests--;
        }
    }

    /** Whether the thread that all began on runs now, and no worker's. */
    boolean onFirstThread() {
        return current.worker == null;
    }

    /** Runs what nobody else may come between, unless it waits. */
    void undisturbed(Runnable action) {
        Running here = current;
        here.undisturbed++;
        try {
            action.run();
        } finally {
            here.undisturbed--;
        }
    }

    /** Nobody else may go on until this thread has taken the next lock: what it sees then is what there is now. */
    void undisturbedUntilLocked() {
        current.undisturbedUntilLocked = true;
    }

    /** Ends all steps that have stopped in the middle. Nobody switches threads any more. */
    void end() {
        ending = true;
        for (Stepper worker : workers) {
            while (worker.rest != null && !worker.running) {
                worker.run();
            }
        }
    }
}
