package io.caravan.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Limits the memory that the calling thread allocates during an action, in the JVM heap and in direct buffers. */
public final class MemoryUse {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final BufferPoolMXBean DIRECT = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .findFirst()
            .orElseThrow();

    private MemoryUse() {}

    /** An action that may throw an exception. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    /**
     * Runs the action, and runs it again if it exceeds the limit, because the first run may load classes.
     *
     * @param limitBytes the maximum total of all allocations, including those that have been freed
     */
    public static void within(long limitBytes, Action action) throws Exception {
        long taken = takenBy(action);
        if (taken > limitBytes) {
            taken = takenBy(action);
        }
        if (taken > limitBytes) {
            throw new AssertionError("took " + taken + " bytes of memory, more than " + limitBytes);
        }
    }

    private static long takenBy(Action action) throws Exception {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long directBefore = DIRECT.getTotalCapacity();
        action.run();
        // A garbage collection in between can only reduce this.
        long direct = Math.max(0, DIRECT.getTotalCapacity() - directBefore);
        return THREADS.getCurrentThreadAllocatedBytes() - before + direct;
    }
}
