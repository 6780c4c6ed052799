package io.caravan.testing;

import io.caravan.StoreConfig;
import io.caravan.engine.Engine;
import io.caravan.engine.Scheduler;
import io.caravan.engine.Worker;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Runs the threads of an open store, for tests that must not be disturbed by its background work. Unlike any check of
 * the files, this class determines exactly when a worker has nothing left to do.
 */
public class WatchedScheduler implements Scheduler {
    private final List<Watched> workers = new ArrayList<>();
    private final int haste;

    public WatchedScheduler() {
        this(1);
    }

    /**
     * Creates a scheduler that divides the waiting times of workers, such as the pause of one second before a failed
     * checkpoint is retried, by this factor.
     */
    public WatchedScheduler(int haste) {
        this.haste = haste;
    }

    /** Returns the time of a clock that runs faster by the factor that the constructor received. */
    public long hastyNanos() {
        return System.nanoTime() * haste;
    }

    /** A worker that counts its wake-ups. Guarded by the scheduler. */
    private final class Watched implements Worker {
        private final String name;
        private final Worker worker;
        private boolean asked = true;
        private boolean working;
        private boolean stopped;

        Watched(String name, Step step, Consumer<Throwable> crashed) {
            this.name = name;
            this.worker = THREADS.worker(name, () -> run(step), failed -> {
                crashed.accept(failed);
                end(false);
            });
        }

        private long run(Step step) {
            begin();
            long waitNanos = step.run();
            end(waitNanos == 0);
            return waitNanos == 0 ? 0 : Math.max(1, waitNanos / haste);
        }

        private void begin() {
            synchronized (WatchedScheduler.this) {
                asked = false;
                working = true;
            }
        }

        private void end(boolean continues) {
            synchronized (WatchedScheduler.this) {
                asked |= continues;
                working = false;
                WatchedScheduler.this.notifyAll();
            }
        }

        @Override
        public void start() {
            worker.start();
        }

        @Override
        public void wake() {
            synchronized (WatchedScheduler.this) {
                asked = true;
            }
            worker.wake();
        }

        @Override
        public void stop() {
            worker.stop();
            synchronized (WatchedScheduler.this) {
                stopped = true;
            }
        }

        boolean isAtRest() {
            return stopped || !asked && !working;
        }

        @Override
        public String toString() {
            return name + (isAtRest() ? " is at rest" : working ? " works" : " is to work");
        }
    }

    @Override
    public Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed) {
        Watched worker = new Watched(name, step, crashed);
        synchronized (this) {
            workers.add(worker);
        }
        return worker;
    }

    @Override
    public void await(Condition changed) {
        THREADS.await(changed);
    }

    @Override
    public <T> T join(CompletableFuture<T> done) {
        return THREADS.join(done);
    }

    /** Opens or creates the store in the directory of the config, with these threads. */
    public Engine open(StoreConfig config) {
        try {
            return Engine.open(
                    config,
                    FileStorage.open(config.directory(), FileStorage.Access.CREATE, any -> {}),
                    System::nanoTime,
                    this);
        } catch (IOException rejected) {
            throw new UncheckedIOException(rejected);
        }
    }

    /**
     * Waits until no worker of the open store has work, and no worker will cause work for another. Segments are then
     * created, recycled, and deleted, checkpoints written, and regions freed. A worker that waits for a point in time
     * counts as resting.
     */
    public void awaitRest() {
        awaitRest(name -> true);
    }

    /** Waits until the workers whose names have this prefix are at rest. Other workers may be held. */
    public void awaitRest(String beginning) {
        awaitRest(name -> name.startsWith(beginning));
    }

    private synchronized void awaitRest(Predicate<String> names) {
        Eventually.awaitNotified(
                this,
                () -> workers.stream().filter(worker -> names.test(worker.name)).allMatch(Watched::isAtRest),
                () -> "at rest: " + workers);
    }
}
