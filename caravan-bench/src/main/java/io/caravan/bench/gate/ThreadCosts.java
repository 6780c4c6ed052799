package io.caravan.bench.gate;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** What the calling thread has cost so far. */
final class ThreadCosts {
    private static final String[] LONG = {"long"};

    private ThreadCosts() {}

    /** Time that it has had of processors, in nanoseconds. */
    static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Memory that it has allocated, in bytes; to ask takes some of it. JVMs tell by a name, not by a type of Java's own. */
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
                    "this JVM does not tell what a thread allocates; run the gate on another", untold);
        }
    }
}
