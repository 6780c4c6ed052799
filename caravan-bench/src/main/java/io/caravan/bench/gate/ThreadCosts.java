package io.caravan.bench.gate;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** Processor time and memory that the calling thread has used so far. */
final class ThreadCosts {
    private static final String[] LONG = {"long"};

    private ThreadCosts() {}

    /** Its processor time, in nanoseconds. */
    static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /**
     * Memory that it has allocated, in bytes; the call itself allocates some. JVMs expose it by name, not through a
     * standard Java type.
     */
    static long allocatedBytes() {
        Object[] thread = {Thread.currentThread().getId()};
        try {
            return (long) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
                            "getThreadAllocatedBytes",
                            thread,
                            LONG);
        } catch (JMException untold) {
            throw new UnsupportedOperationException(
                    "this JVM does not report what a thread allocates; run the gate on another", untold);
        }
    }
}
