package io.caravan.bench.timers;

import java.lang.management.ManagementFactory;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** A {@link ScheduledExecutorService} with one thread; a wait ends when the task starts on that thread. */
final class ScheduledWaiter implements Waiter {
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final SynchronousQueue<Long> begun = new SynchronousQueue<>();

    /** Processor time of the executor's thread; known once it has started a task. */
    private volatile long threadId;

    @Override
    public long await(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        var unused = executor.schedule(
                () -> {
                    long began = System.nanoTime();
                    threadId = Thread.currentThread().getId();
                    begun.put(began);
                    return began;
                },
                nanos,
                TimeUnit.NANOSECONDS);
        return begun.take() - start;
    }

    @Override
    public long cpuNanos() {
        long thread = threadId;
        long served = thread == 0 ? 0 : ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
        return Waiter.super.cpuNanos() + served;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
