package io.caravan.testing.simulator;

import io.caravan.NotWritableException;
import io.caravan.engine.Threading;
import io.caravan.engine.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * One thread for everything. Whoever waits runs other workers' steps in the meantime, so a step may run inside
 * another's wait; which one, the generator chooses. Time passes only when nobody has anything to do.
 */
public final class SimulatedThreading implements Threading {
    private static final long STORE_ID = 0x5ca1ab1e;

    private final RandomGenerator random;
    private final SimulatedClock clock;
    private final List<Stepper> workers = new ArrayList<>();
    private int guests;

    public SimulatedThreading(RandomGenerator random, SimulatedClock clock) {
        this.random = random;
        this.clock = clock;
    }

    /** The workers neither wait for each other's steps nor are waited for, when they run inside somebody's I/O call. */
    private static boolean neverWaits(String worker) {
        return !worker.contains("checkpointer");
    }

    private final class Stepper implements Worker {
        private final boolean mayRunInside;
        private final Step step;
        private final Consumer<Throwable> crashed;
        private boolean started;
        private boolean running;
        private boolean woken = true;
        private long dueNanos = UNTIL_WOKEN;

        Stepper(String name, Step step, Consumer<Throwable> crashed) {
            this.mayRunInside = neverWaits(name);
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
        }

        @Override
        public void stop() {
            started = false;
        }

        boolean runnable() {
            return started && !running && (woken || dueNanos <= clock.nanos());
        }

        void run() {
            running = true;
            woken = false;
            dueNanos = UNTIL_WOKEN;
            try {
                long waitNanos = step.run();
                if (waitNanos == 0) {
                    woken = true;
                } else if (waitNanos != UNTIL_WOKEN) {
                    dueNanos = clock.nanos() + waitNanos;
                }
            } catch (RuntimeException | Error failed) {
                crashed.accept(failed);
            } finally {
                running = false;
            }
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
    public void await(Condition changed) {
        if (guests > 0) {
            throw new NotWritableException("the simulated store");
        }
        runSomething();
    }

    @Override
    public <T> T join(CompletableFuture<T> done) {
        while (!done.isDone()) {
            runSomething();
        }
        return done.join();
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
            if (worker.started && !worker.running) {
                next = Math.min(next, worker.dueNanos);
            }
        }
        if (next == Worker.UNTIL_WOKEN) {
            throw new SimulationFailure("somebody waits, and no worker will ever do anything again");
        }
        clock.advanceTo(next);
    }

    /** Makes all be due that waits for a time not longer than this. */
    void letTimePass(long nanos) {
        clock.advanceTo(clock.nanos() + nanos);
    }

    /** Runs what may not wait, as it comes in the middle of something else: a wait makes it throw. */
    public void asGuest(Runnable action) {
        guests++;
        try {
            action.run();
        } finally {
            guests--;
        }
    }
}
