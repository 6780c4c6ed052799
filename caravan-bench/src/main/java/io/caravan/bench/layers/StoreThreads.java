package io.caravan.bench.layers;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.function.Predicate;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Processor time that this thread, the open store's flusher and its other threads have used, and bytes they allocated. */
record StoreThreads(long callerNanos, long flusherNanos, long otherNanos, long allocatedBytes) {
    private static final String STORE_THREAD = "caravan-";
    private static final String FLUSHER = "caravan-flusher";

    /** No usage. */
    static final StoreThreads NONE = new StoreThreads(0, 0, 0, 0);

    /** Usage up to now; exactly one store must be open. */
    static StoreThreads now() throws IOException {
        List<Thread> threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(STORE_THREAD))
                .toList();
        Predicate<Thread> flusher = thread -> thread.getName().startsWith(FLUSHER);
        long allocated = allocatedBytes(Thread.currentThread());
        for (Thread thread : threads) {
            allocated += allocatedBytes(thread);
        }
        return new StoreThreads(
                cpuNanos(Thread.currentThread()),
                threads.stream()
                        .filter(flusher)
                        .mapToLong(StoreThreads::cpuNanos)
                        .sum(),
                threads.stream()
                        .filter(flusher.negate())
                        .mapToLong(StoreThreads::cpuNanos)
                        .sum(),
                allocated);
    }

    /** Total of all threads. */
    long cpuNanos() {
        return callerNanos + flusherNanos + otherNanos;
    }

    /** Usage since an earlier reading. */
    StoreThreads since(StoreThreads before) {
        return new StoreThreads(
                callerNanos - before.callerNanos,
                flusherNanos - before.flusherNanos,
                otherNanos - before.otherNanos,
                allocatedBytes - before.allocatedBytes);
    }

    /** The sum of two usages. */
    StoreThreads plus(StoreThreads other) {
        return new StoreThreads(
                callerNanos + other.callerNanos,
                flusherNanos + other.flusherNanos,
                otherNanos + other.otherNanos,
                allocatedBytes + other.allocatedBytes);
    }

    private static long cpuNanos(Thread thread) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Math.max(0, threads.getThreadCpuTime(thread.getId()));
    }

    /** HotSpot exposes it by name only: its interface is not part of standard Java. */
    private static long allocatedBytes(Thread thread) throws IOException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            Object bytes = server.invoke(
                    new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
                    "getThreadAllocatedBytes",
                    new Object[] {thread.getId()},
                    new String[] {long.class.getName()});
            return Math.max(0, (Long) bytes);
        } catch (JMException unknown) {
            throw new IOException("this JVM does not report what a thread has allocated", unknown);
        }
    }
}
