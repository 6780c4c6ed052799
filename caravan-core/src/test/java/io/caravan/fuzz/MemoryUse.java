package io.caravan.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** How much memory the calling thread takes while it does something, on the heap and in direct buffers. */
public final class MemoryUse {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final BufferPoolMXBean DIRECT = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .findFirst()
            .orElseThrow();

    private MemoryUse() {}

    /** Something that may throw. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    /**
     * Runs the action; once more when it took too much, as the first time may have loaded classes.
     *
     * @param limitBytes what it may take at most, all allocations added up, whether they are free again or not
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
        // A collection in between can only make this less.
        long direct = Math.max(0, DIRECT.getTotalCapacity() - directBefore);
        return THREADS.getCurrentThreadAllocatedBytes() - before + direct;
    }
}
